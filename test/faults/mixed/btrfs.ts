import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ground, treeStateOf } from "../ground.ts";
import { editTree } from "../tree.ts";
import type { WorldMember } from "./member.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/btrfs", import.meta.url));
const CONFIGURATION = `sandbox:
  plugin_roots: ["${PLUGIN}"]
  custom_strategies:
    btrfs_snapshot: { module: "${PLUGIN}/src/strategy.ts", class: BtrfsSnapshotStrategy }
`;
/** What the engine keeps inside of the subvolume. */
const AREA = ".cofferdam-0";

/** A subvolume of a btrfs that is mounted somewhere, with the plug-in for it. */
export function subvolume(mountPoint: string): WorldMember {
  const place = ({ folder }: Ground): string => join(mountPoint, basename(folder));
  return {
    id: "btrfs",
    configuration: CONFIGURATION,
    make: (ground) => {
      execFileSync("btrfs", ["subvolume", "create", place(ground)], { stdio: "pipe" });
      execFileSync("cp", ["-aT", ground.template.tree, place(ground)]);
    },
    resource: (ground) => ({
      type: "fs-directory",
      location: place(ground),
      sandboxStrategy: "btrfs_snapshot",
    }),
    edit: async (sandbox, to) => editTree(await sandbox.getPath(), "programs", to),
    stateOf: (ground) => treeStateOf(ground, place(ground), ["old", "edited"], [AREA]),
    stateOfSandbox: async (ground, sandbox) =>
      treeStateOf(ground, await sandbox.getPath(), ["old", "edited", "later"], [AREA]),
    folder: place,
    look: (ground) => found(place(ground), []),
    leftovers: (ground) =>
      found(join(place(ground), AREA), ["-mindepth", "2"])
        .split("\n")
        .filter((line) => line !== ""),
  };
}

function found(folder: string, which: readonly string[]): string {
  return execFileSync("find", [folder, ...which, "-printf", "%p %i %s %m %C@\n"], {
    encoding: "utf8",
  });
}
