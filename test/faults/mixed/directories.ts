import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Ground, treeStateOf } from "../ground.ts";
import { editTree } from "../tree.ts";
import type { WorldMember } from "./member.ts";

/** A directory that a strategy runs in copies or layers. */
function directory(strategy: "copy_on_write" | "overlay"): WorldMember {
  // The ground itself brings the first tree along.
  const place = ({ folder, resource }: Ground): string =>
    strategy === "overlay" ? join(folder, "overlay/real") : resource.location;
  return {
    id: strategy,
    make: (ground) => {
      if (strategy !== "overlay") return;
      mkdirSync(join(ground.folder, "overlay"));
      execFileSync("cp", ["-a", ground.template.tree, place(ground)]);
    },
    resource: (ground) => ({
      type: "fs-directory",
      location: place(ground),
      sandboxStrategy: strategy,
    }),
    edit: async (sandbox, to) => editTree(await sandbox.getPath(), "programs", to),
    stateOf: (ground) => treeStateOf(ground, place(ground), ["old", "edited"]),
    stateOfSandbox: async (ground, sandbox) =>
      treeStateOf(ground, await sandbox.getPath(), ["old", "edited", "later"]),
  };
}

/** The directory of a plan that has one alone. */
export const DIRECTORY = directory("overlay");

/** The directories of a mixed plan. */
export const DIRECTORIES: readonly WorldMember[] = [directory("copy_on_write"), DIRECTORY];
