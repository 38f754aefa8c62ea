import assert from "node:assert/strict";
import { ALLOWED_FROM, SandboxStateError } from "../../index.ts";
import type { SandboxOperation, SandboxRef, SandboxStatus } from "../../index.ts";
import type { AreaRules, Rule } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { ISOLATED, type Need, WITH_CHECKPOINTS } from "../needs.ts";
import type { Trial } from "../trial.ts";

/** How a sandbox gets into each status that a caller can bring about. */
const WAYS: readonly {
  readonly status: SandboxStatus;
  readonly needs?: readonly Need[];
  reach(trial: Trial, ref: SandboxRef): Promise<unknown>;
}[] = [
  { status: "CREATED", reach: () => Promise.resolve() },
  {
    status: "ACTIVE",
    reach: (trial, ref) => trial.strategy.write(ref, "a.txt", "active\n"),
  },
  {
    status: "COMMITTED",
    reach: async (trial, ref) => {
      await trial.strategy.write(ref, "a.txt", "committed\n");
      await trial.strategy.commit(ref);
    },
  },
  {
    status: "ROLLED_BACK",
    needs: [ISOLATED],
    reach: async (trial, ref) => {
      await trial.strategy.write(ref, "a.txt", "discarded\n");
      await trial.strategy.rollback(ref);
    },
  },
];

type Call = (trial: Trial, ref: SandboxRef) => Promise<unknown> | undefined;

/** One plain call of each operation that takes a ref; undefined where the strategy has no such method. */
const CALLS: Partial<Record<SandboxOperation, Call>> = {
  read: ({ strategy }, ref) => strategy.read(ref, "docs/guide.md"),
  write: ({ strategy }, ref) => strategy.write(ref, "written.txt", "x\n"),
  diff: ({ strategy }, ref) => strategy.diff(ref),
  getPath: ({ strategy }, ref) => strategy.getPath?.(ref),
  list: ({ strategy }, ref) => strategy.list?.(ref, ""),
  remove: ({ strategy }, ref) => strategy.remove?.(ref, "zero"),
  rename: ({ strategy }, ref) => strategy.rename?.(ref, "private", "renamed"),
  checkpoint: ({ strategy }, ref) => strategy.checkpoint(ref, "another"),
  restoreCheckpoint: ({ strategy }, ref) => strategy.restoreCheckpoint(ref, "kept"),
  undoCommit: ({ strategy }, ref) => strategy.undoCommit?.(ref),
  commit: ({ strategy }, ref) => strategy.commit(ref),
  rollback: ({ strategy }, ref) => strategy.rollback(ref),
  cleanup: ({ strategy }, ref) => strategy.cleanup(ref),
};
const OPERATIONS = Object.keys(CALLS) as SandboxOperation[];

/** Which call is possible when. */
export const STATUS: AreaRules = {
  name: "status",
  rules: [
    ...WAYS.map(({ status, needs, reach }): Rule => ({
      title: `refuses in status ${status} what the table does not allow, without any effect (R16)`,
      ...(needs !== undefined && { needs }),
      prove: async (trial) => {
        const ref = await sandboxIn(trial, "plan", reach);
        assert.equal(await trial.status(ref), status);
        const before = await trial.originalIdentities();
        for (const operation of OPERATIONS.filter((name) => !isAllowed(name, status))) {
          const call = CALLS[operation]?.(trial, ref);
          if (call !== undefined) await refused(() => call, operation, status);
        }
        assert.equal(await trial.status(ref), status);
        sameEntries(await trial.originalIdentities(), before, "the resource");
      },
    })),
    ...WAYS.map(({ status, needs = [], reach }): Rule => ({
      title: `allows in status ${status} what the table allows (R16)`,
      needs: [...needs, ISOLATED, WITH_CHECKPOINTS],
      prove: async (trial) => {
        const isFinal = status === "COMMITTED" && !trial.capabilities.undoCommit;
        for (const operation of OPERATIONS.filter((name) => isAllowed(name, status))) {
          if (isFinal && operation === "rollback") continue;
          const ref = await sandboxIn(trial, operation, reach);
          await CALLS[operation]?.(trial, ref);
          await trial.cleanup(ref);
          await trial.runOutside("printf 'alpha\\n' > a.txt");
        }
      },
    })),
    {
      title: "refuses everything but a further cleanup once it is cleaned up (R16)",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.cleanup(ref);
        for (const operation of OPERATIONS.filter((name) => name !== "cleanup")) {
          const call = CALLS[operation]?.(trial, ref);
          if (call !== undefined) await rejectsWith(SandboxStateError, () => call);
        }
        await trial.strategy.cleanup(ref);
      },
    },
    {
      title: "refuses a ref that was never given out, rollback included (R16)",
      prove: async (trial) => {
        const before = await trial.original();
        const real = await trial.create();
        const ref = { ...real, sandboxId: `${real.sandboxId.slice(0, -4)}0000` };
        for (const operation of OPERATIONS.filter((name) => name !== "cleanup")) {
          const call = CALLS[operation]?.(trial, ref);
          if (call === undefined) continue;
          const { data } = await rejectsWith(SandboxStateError, () => call);
          assert.equal(data.reason, "unknownRef");
        }
        sameEntries(await trial.original(), before, "the resource");
        assert.equal(await trial.status(real), "CREATED");
      },
    },
  ],
};

async function sandboxIn(
  trial: Trial,
  planId: string,
  reach: (trial: Trial, ref: SandboxRef) => Promise<unknown>,
): Promise<SandboxRef> {
  const ref = await trial.create(planId);
  if (trial.capabilities.checkpoints !== "none") await trial.strategy.checkpoint(ref, "kept");
  await reach(trial, ref);
  return ref;
}

async function refused(
  call: () => Promise<unknown>,
  operation: SandboxOperation,
  status: SandboxStatus,
): Promise<void> {
  const { data } = await rejectsWith(SandboxStateError, call);
  assert.equal(data.status, status);
  assert.equal(data.attempted, operation);
  assert.deepEqual(data.allowedFrom, ALLOWED_FROM[operation]);
}

function isAllowed(operation: SandboxOperation, status: SandboxStatus): boolean {
  return (ALLOWED_FROM[operation] as readonly SandboxStatus[]).includes(status);
}
