import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Cofferdam } from "../../../src/index.ts";
import { type Ground, PLAN, makeGround, stateOfResource } from "../ground.ts";
import type { OWN_STRATEGIES } from "../own-strategies.ts";
import { SUBJECTS } from "../subjects.ts";
import { type TreeState, editTree } from "../tree.ts";
import type { World } from "./plan.ts";

const ROWS: Readonly<Record<"old" | "edited", unknown>> = {
  old: { apples: "1", pears: "2" },
  edited: { apples: "5", pears: "2", plums: "3" },
};

const NAMES: Readonly<Record<keyof typeof OWN_STRATEGIES, string>> = {
  "undoable-ledger": "a ledger that can only undo",
  "deciding-ledger": "a ledger that decides",
};

/** A plan over a directory and a file that is only ever replaced as a whole, whose strategy cannot prepare. */
export function ledgerWorld(strategy: keyof typeof OWN_STRATEGIES): World {
  return {
    name: `a directory and ${NAMES[strategy]}`,
    make: (template) => {
      const ground = makeGround(SUBJECTS.copy, template);
      mkdirSync(dirname(ledgerOf(ground)));
      writeFileSync(ledgerOf(ground), JSON.stringify({ rows: ROWS.old, decisions: {} }));
      return ground;
    },
    edit: (ground, coffer) => editedPlan(strategy, ground, coffer),
    stateOf,
  };
}

function ledgerOf({ folder }: Ground): string {
  return join(folder, "ledger", "rows.json");
}

async function editedPlan(strategy: string, ground: Ground, coffer: Cofferdam): Promise<void> {
  const plan = await coffer.plan(PLAN, [
    { id: "tree", type: "fs-directory", location: ground.resource.location },
    { id: "ledger", type: "fs-file", location: ledgerOf(ground), sandboxStrategy: strategy },
  ]);
  editTree(await plan.sandbox("tree").getPath(), "programs", "edited");
  await plan.sandbox("ledger").write("apples", "5");
  await plan.sandbox("ledger").write("plums", "3");
}

function stateOf(ground: Ground): TreeState {
  const { rows } = JSON.parse(readFileSync(ledgerOf(ground), "utf8")) as { rows: unknown };
  const tree = stateOfResource(ground);
  assert.deepEqual(rows, tree === "old" ? ROWS.old : ROWS.edited, `the directory is ${tree}`);
  return tree;
}
