import { spawnSync } from "node:child_process";
import { loopDevicesBelow, mountsBelow } from "./leftovers.ts";

/**
 * Removes a folder and what it holds, also when it holds mounts, attached loop images, immutable
 * files, folders of mode 000 or names that are not UTF-8. Idempotent; throws when something stays.
 */
export function removeFolder(path: string): void {
  const points = mountsBelow(path).toReversed();
  // Lazily, because a test that failed may have left a process inside the mount; through xargs,
  // because a mount point need not be UTF-8.
  const input = Buffer.from(points.map((point) => `${point}\0`).join(""), "latin1");
  if (points.length > 0) run("xargs", ["-0", "umount", "-l", "--"], input);
  for (const device of loopDevicesBelow(path)) run("losetup", ["-d", device]);
  if (remove(path).status === 0) return;
  run("chattr", ["-R", "-f", "-i", "-a", "--", path]);
  run("chmod", ["-R", "u+rwx", "--", path]);
  const second = remove(path);
  if (second.status !== 0) throw new Error(`could not remove ${path}: ${second.stderr}`);
}

function remove(path: string): { status: number | null; stderr: string } {
  return spawnSync("rm", ["-rf", "--one-file-system", "--", path], { encoding: "utf8" });
}

function run(command: string, args: readonly string[], input?: Buffer): void {
  const done = spawnSync(command, args, { input, stdio: ["pipe", "ignore", "ignore"] });
  if (done.error) throw done.error;
}
