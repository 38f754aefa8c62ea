import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { makeTree } from "./trees.mjs";

const CHILD = fileURLToPath(new URL("./memory-child.mjs", import.meta.url));

/** Peak memory of a whole life over 100,000 files and one sparse file of 4 GiB, in a heap of 256 MiB. */
export function measureMemory(folder) {
  const tree = join(folder, "memory");
  makeTree(tree, 100_000);
  execFileSync("truncate", ["-s", "4G", join(tree, "sparse")]);
  return ["overlay", "filesystem_copy"].map((strategy) => {
    const args = [
      "--max-old-space-size=256",
      CHILD,
      tree,
      join(folder, `state-${strategy}`),
      strategy,
    ];
    const run = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 24 });
    if (run.status !== 0) return { strategy, passed: false, error: run.stderr.slice(-400) };
    return { strategy, passed: true, ...JSON.parse(run.stdout) };
  });
}
