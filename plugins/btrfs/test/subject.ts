import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type ConformanceSubject, directorySubject } from "cofferdam/testing";

/** The configuration by which the strategy is known. */
export const CONFIG = fileURLToPath(new URL("../cofferdam.yaml", import.meta.url));

/** The kit's subject: every resource is a subvolume below a folder of a btrfs. */
export function subvolumes(below: string): ConformanceSubject {
  return directorySubject({
    name: "btrfs_snapshot",
    strategyName: "btrfs_snapshot",
    below,
    options: { config: CONFIG },
    holdsState: true,
    folders: {
      make: (path) => btrfs("subvolume", "create", path),
      remove: (path) => btrfs("subvolume", "delete", path),
    },
  });
}

async function btrfs(...args: readonly string[]): Promise<void> {
  await Promise.resolve(execFileSync("btrfs", args, { stdio: "pipe" }));
}
