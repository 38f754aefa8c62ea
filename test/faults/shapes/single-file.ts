import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Ground, PLAN, makeGround, stateOfResource } from "../ground.ts";
import { SUBJECTS } from "../subjects.ts";
import { editTree } from "../tree.ts";
import type { World } from "./plan.ts";

const CONTENT = { old: "port = 1\n", edited: "port = 2\n", later: "" } as const;

function fileOf({ folder }: Ground): string {
  return join(folder, "settings", "app.conf");
}

/** A plan over a directory and a single file. */
export const SINGLE_FILE: World = {
  name: "a directory and a single file",
  make: (template) => {
    const ground = makeGround(SUBJECTS.copy, template);
    mkdirSync(dirname(fileOf(ground)));
    writeFileSync(fileOf(ground), CONTENT.old);
    return ground;
  },
  edit: async (ground, coffer) => {
    const plan = await coffer.plan(PLAN, [
      { id: "tree", type: "fs-directory", location: ground.resource.location },
      { id: "file", type: "fs-file", location: fileOf(ground) },
    ]);
    editTree(await plan.sandbox("tree").getPath(), "programs", "edited");
    await plan.sandbox("file").write("app.conf", CONTENT.edited);
  },
  stateOf: (ground) => {
    const tree = stateOfResource(ground);
    assert.equal(readFileSync(fileOf(ground), "utf8"), CONTENT[tree], `the directory is ${tree}`);
    return tree;
  },
};
