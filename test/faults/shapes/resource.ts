import assert from "node:assert/strict";
import type { Cofferdam, SandboxRef } from "../../../src/index.ts";
import {
  type Ground,
  createEdited,
  makeGround,
  openGround,
  stateOfResource,
  stateOfSandbox,
} from "../ground.ts";
import type { Told } from "../order.ts";
import type { Ending, Scene, Shape } from "../shape.ts";
import type { Subject } from "../subjects.ts";
import type { Template } from "../tree.ts";

/** Operations that change the real tree. */
export function commitShape(subject: Subject, template: Template): Shape {
  return {
    name: `commit, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      return { operation: "commit", ref: await createEdited(ground, coffer) };
    },
    judgeAtOnce: (ground, told) => {
      if (told.outcome === "done") assert.equal(stateOfResource(ground), "edited");
      else if (isRestored(told)) assert.equal(stateOfResource(ground), "old");
    },
    judge: judgeCommit,
  };
}

/** Undo by rollback, or by taking the commit back and keeping the edits. */
export function undoShape(
  operation: "rollback" | "undoCommit",
  subject: Subject,
  template: Template,
): Shape {
  return {
    name: `${operation} of a commit, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      return { operation, ref: await commitEdited(ground, coffer) };
    },
    judgeAtOnce: (ground, told) => {
      if (told.outcome === "done") assert.equal(stateOfResource(ground), "old");
    },
    judge: judgeUndo,
  };
}

/** A sandbox that was edited and committed. */
export async function commitEdited(ground: Ground, coffer: Cofferdam): Promise<SandboxRef> {
  const ref = await createEdited(ground, coffer);
  await coffer.sandbox(ref).commit();
  return ref;
}

/** After a commit that was disturbed: committed and new, or usable, with its edits, and old. */
export async function judgeCommit({ ground, coffer, told, ref }: Scene): Promise<Ending> {
  assert.ok(ref !== null);
  const status = await coffer.status(ref);
  const sandbox = coffer.sandbox(ref);
  if (status === "COMMITTED") {
    assert.equal(stateOfResource(ground), "edited");
    assert.ok(told?.outcome !== "failed" || !isRestored(told), "told that nothing was committed");
    await sandbox.rollback();
    assert.equal(stateOfResource(ground), "old");
    return "new";
  }
  assert.equal(status, "ACTIVE");
  assert.equal(stateOfResource(ground), "old");
  assert.notEqual(told?.outcome, "done");
  assert.equal(await stateOfSandbox(ground, coffer, ref), "edited");
  await sandbox.commit();
  assert.equal(stateOfResource(ground), "edited");
  await sandbox.rollback();
  assert.equal(stateOfResource(ground), "old");
  return "old";
}

/** After an undo that was disturbed: committed and new, or taken back and old. */
export async function judgeUndo({ ground, coffer, told, ref }: Scene): Promise<Ending> {
  assert.ok(ref !== null);
  const status = await coffer.status(ref);
  const sandbox = coffer.sandbox(ref);
  if (status === "COMMITTED") {
    assert.equal(stateOfResource(ground), "edited");
    assert.notEqual(told?.outcome, "done");
    await sandbox.rollback();
    assert.equal(stateOfResource(ground), "old");
    return "old";
  }
  assert.equal(stateOfResource(ground), "old");
  const expected = { ROLLED_BACK: "old", ACTIVE: "edited" }[status as "ROLLED_BACK" | "ACTIVE"];
  assert.ok(expected !== undefined, `the status is ${status}`);
  assert.equal(await stateOfSandbox(ground, coffer, ref), expected);
  if (status === "ACTIVE") {
    await sandbox.commit();
    assert.equal(stateOfResource(ground), "edited");
  }
  return "new";
}

/** Whether an error says that the resource is as before; errors that say nothing are from before anything. */
function isRestored({ error }: Told): boolean {
  const data = (error?.data ?? {}) as { readonly originalRestored?: boolean };
  return data.originalRestored !== false;
}
