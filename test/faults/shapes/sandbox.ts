import assert from "node:assert/strict";
import type { Change, Cofferdam, SandboxRef } from "../../../src/index.ts";
import {
  type Ground,
  PLAN,
  createEdited,
  createSandbox,
  editLater,
  makeGround,
  openGround,
  stateOfResource,
  stateOfSandbox,
} from "../ground.ts";
import type { Operation } from "../order.ts";
import { type Ending, type Scene, type Shape, expectTold } from "../shape.ts";
import type { Subject } from "../subjects.ts";
import type { Template } from "../tree.ts";
import { commitEdited } from "./resource.ts";

type Judge = (scene: Scene & { readonly ref: SandboxRef }) => Promise<Ending>;

/** Operations that must never change the real tree. */
function sandboxShape(
  name: string,
  subject: Subject,
  template: Template,
  arrange: (ground: Ground, coffer: Cofferdam) => Promise<Operation>,
  judge: Judge,
): Shape {
  return {
    name: `${name}, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      return await arrange(ground, coffer);
    },
    judgeAtOnce: (ground) => assert.equal(stateOfResource(ground), "old"),
    judge: async (scene) => {
      const { ground, ref } = scene;
      assert.equal(stateOfResource(ground), "old");
      assert.ok(ref !== null);
      return judge({ ...scene, ref });
    },
  };
}

/** After a creation that was disturbed: a usable sandbox, or none. */
export function createShape(subject: Subject, template: Template): Shape {
  return {
    name: `create, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: (ground) => {
      const { resource } = ground;
      const order = { operation: "create", planId: PLAN, resource } as const;
      return Promise.resolve({ ...order, strategy: subject.strategy });
    },
    judgeAtOnce: (ground) => assert.equal(stateOfResource(ground), "old"),
    judge: async (scene) => {
      const { ground, coffer } = scene;
      assert.equal(stateOfResource(ground), "old");
      const [found, ...more] = await coffer.list();
      assert.deepEqual(more, []);
      expectTold(scene, found !== undefined);
      if (found === undefined) {
        await createSandbox(ground, coffer);
        return "old";
      }
      assert.equal(await stateOfSandbox(ground, coffer, found.ref), "old");
      return "new";
    },
  };
}

/** After a write that was disturbed: the whole new file, or the whole old one. */
export function writeShape(subject: Subject, template: Template): Shape {
  const [path, content] = ["docs/deep/old.md", "written anew\n"];
  return sandboxShape(
    "write",
    subject,
    template,
    async (ground, coffer) => {
      const ref = await createSandbox(ground, coffer);
      return { operation: "write", ref, path, content };
    },
    async ({ coffer, told, ref }) => {
      const sandbox = coffer.sandbox(ref);
      const found = Buffer.from(await sandbox.read(path)).toString("utf8");
      const { changes } = await sandbox.diff();
      const ending = found === content ? "new" : "old";
      if (ending === "old") assert.equal(found, "old\n");
      // A folder's time is set after the file is in place, so a kill in between leaves the present time.
      const isFolderTime = ({ kind, after }: Change): boolean =>
        kind === "attributesChanged" && after?.type === "directory";
      assert.deepEqual(
        changes.filter((change) => !isFolderTime(change)).map(({ path: at, kind }) => [at, kind]),
        ending === "new" ? [[path, "modified"]] : [],
      );
      // A failure after the file was put in place does not take it away again.
      if (told?.outcome === "done") assert.equal(ending, "new");
      await sandbox.write(path, "and once more\n");
      return ending;
    },
  );
}

/** After the opening of a directory that was disturbed: it opens, and shows the edits. */
export function viewShape(subject: Subject, template: Template): Shape {
  return sandboxShape(
    "getPath",
    subject,
    template,
    async (ground, coffer) => ({ operation: "getPath", ref: await createEdited(ground, coffer) }),
    async ({ ground, coffer, told, ref }) => {
      assert.equal(await stateOfSandbox(ground, coffer, ref), "edited");
      return told?.outcome === "done" ? "new" : "old";
    },
  );
}

/** After a discard that was disturbed: no edit is left, or all are. */
export function discardShape(subject: Subject, template: Template): Shape {
  return sandboxShape(
    "rollback of edits",
    subject,
    template,
    async (ground, coffer) => ({ operation: "rollback", ref: await createEdited(ground, coffer) }),
    async ({ ground, coffer, told, ref }) => {
      const status = await coffer.status(ref);
      const isDone = status === "ROLLED_BACK";
      if (!isDone) assert.equal(status, "ACTIVE");
      if (told?.outcome === "done") assert.ok(isDone);
      assert.equal(await stateOfSandbox(ground, coffer, ref), isDone ? "old" : "edited");
      return isDone ? "new" : "old";
    },
  );
}

/** After edits were being taken back path by path: a second call does the rest, and nothing is left of them. */
export function dropShape(subject: Subject, template: Template): Shape {
  return sandboxShape(
    "drop of all edits",
    subject,
    template,
    async (ground, coffer) => ({ operation: "drop", ref: await createEdited(ground, coffer) }),
    async ({ ground, coffer, told, ref }) => {
      const sandbox = coffer.sandbox(ref);
      const { isEmpty } = await sandbox.diff();
      if (told?.outcome === "done") assert.ok(isEmpty);
      if (!isEmpty) await sandbox.drop([""]);
      assert.equal(await stateOfSandbox(ground, coffer, ref), "old");
      assert.ok((await sandbox.diff()).isEmpty);
      return isEmpty ? "new" : "old";
    },
  );
}

/** After a checkpoint that was disturbed: it is there and can be restored, or it is not there. */
export function checkpointShape(subject: Subject, template: Template): Shape {
  return sandboxShape(
    "checkpoint",
    subject,
    template,
    async (ground, coffer) => {
      const ref = await createEdited(ground, coffer);
      return { operation: "checkpoint", ref, checkpointId: "kept" };
    },
    async (scene) => {
      const { ground, coffer, ref } = scene;
      assert.equal(await stateOfSandbox(ground, coffer, ref), "edited");
      const sandbox = coffer.sandbox(ref);
      const isThere = (await sandbox.describe()).checkpoints.some(({ id }) => id === "kept");
      expectTold(scene, isThere);
      if (!isThere) await sandbox.checkpoint("kept");
      await editLater(ground, coffer, ref);
      assert.equal(await stateOfSandbox(ground, coffer, ref), "later");
      await sandbox.restoreCheckpoint("kept");
      assert.equal(await stateOfSandbox(ground, coffer, ref), "edited");
      return isThere ? "new" : "old";
    },
  );
}

/** After a restore that was disturbed: the state of the checkpoint, or the one before the restore. */
export function restoreShape(subject: Subject, template: Template): Shape {
  return sandboxShape(
    "restoreCheckpoint",
    subject,
    template,
    async (ground, coffer) => {
      const ref = await createEdited(ground, coffer);
      await coffer.sandbox(ref).checkpoint("kept");
      await editLater(ground, coffer, ref);
      return { operation: "restoreCheckpoint", ref, checkpointId: "kept" };
    },
    async (scene) => {
      const { ground, coffer, ref } = scene;
      const found = await stateOfSandbox(ground, coffer, ref);
      assert.ok(found !== "old");
      const ending = found === "edited" ? "new" : "old";
      expectTold(scene, ending === "new");
      await coffer.sandbox(ref).restoreCheckpoint("kept");
      assert.equal(await stateOfSandbox(ground, coffer, ref), "edited");
      return ending;
    },
  );
}

/** After a clean-up that was disturbed: nothing is left, or a second one does the rest. */
export function cleanupShape(of: "edits" | "commit", subject: Subject, template: Template): Shape {
  const expected = of === "edits" ? "old" : "edited";
  const expectKept = (ground: Ground): void => assert.equal(stateOfResource(ground), expected);
  return {
    name: `cleanup after ${of === "edits" ? "edits" : "a commit"}, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: async (ground) => {
      await using coffer = await openGround(ground);
      const make = of === "edits" ? createEdited : commitEdited;
      return { operation: "cleanup", ref: await make(ground, coffer) };
    },
    judgeAtOnce: expectKept,
    judge: async ({ ground, coffer, told, ref }) => {
      expectKept(ground);
      assert.ok(ref !== null);
      const isGone = (await coffer.status(ref)) === "PENDING";
      if (told?.outcome === "done") assert.ok(isGone);
      if (!isGone) await coffer.sandbox(ref).cleanup();
      expectKept(ground);
      return isGone ? "new" : "old";
    },
  };
}
