import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Runs with a fresh xfs disk that can share blocks; does nothing and says so where it cannot be mounted. */
export async function withReflinkDisk(folder, work) {
  const [image, mountPoint] = [join(folder, "xfs.img"), join(folder, "xfs")];
  mkdirSync(mountPoint);
  execFileSync("truncate", ["-s", "4G", image]);
  try {
    execFileSync("mkfs.xfs", ["-q", "-m", "reflink=1", image]);
    execFileSync("mount", ["-o", "loop", image, mountPoint]);
  } catch (error) {
    process.stderr.write(`no xfs disk for reflinks: ${error.message}\n`);
    return;
  }
  try {
    await work(mountPoint);
  } finally {
    execFileSync("umount", [mountPoint]);
  }
}
