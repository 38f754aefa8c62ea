import assert from "node:assert/strict";
import { SandboxCommitError, SandboxConflictError } from "../../index.ts";
import type {
  CommitOptions,
  Json,
  SandboxRef,
  SandboxStrategy,
  TransactionPart,
} from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { EDITS } from "../edits.ts";
import { TWO_PHASE, WITH_PATH } from "../needs.ts";
import { snapshotOf } from "../snapshot.ts";
import type { Trial } from "../trial.ts";

/** The two-phase calls, bound to one sandbox and one transaction of the check's own making. */
class Phases {
  readonly #raw: Required<SandboxStrategy>;
  readonly #ref: SandboxRef;
  #part: TransactionPart;

  constructor(raw: SandboxStrategy, ref: SandboxRef) {
    this.#raw = raw as Required<SandboxStrategy>;
    this.#ref = ref;
    const ulid = "01K0CONFORMANCE00000000000";
    this.#part = { gid: `coffer1:kit:${ulid}`, ulid, member: 0, kind: "commit", record: null };
  }

  async prepare(options?: CommitOptions): Promise<Json> {
    const record = await this.#raw.prepare(this.#ref, this.#part, options);
    // What is kept with the intent goes through JSON.
    this.#part = { ...this.#part, record: JSON.parse(JSON.stringify(record)) as Json };
    return record;
  }

  fence = (): Promise<void> => this.#raw.fence(this.#ref, this.#part);
  commit = (): ReturnType<Required<SandboxStrategy>["commitPrepared"]> =>
    this.#raw.commitPrepared(this.#ref, this.#part);
  abandon = (): Promise<void> => this.#raw.abandonPrepared(this.#ref, this.#part);
  reverse = (): Promise<void> => this.#raw.reversePrepared(this.#ref, this.#part);
}

/** The parts of a commit that a transaction over several sandboxes calls one by one. */
export const TWO_PHASE_COMMIT: AreaRules = {
  name: "two-phase commit",
  rules: [
    {
      title: "prepares without touching the resource, then commits exactly the edits (R23)",
      needs: [TWO_PHASE, WITH_PATH],
      prove: async (trial) => {
        const copy = await trial.plainCopy();
        await trial.runIn(copy, EDITS);
        const before = await trial.originalIdentities();
        const { phases } = await edited(trial);
        await phases.prepare();
        sameEntries(await trial.originalIdentities(), before, "the resource after prepare");
        await phases.fence();
        sameEntries(await trial.originalIdentities(), before, "the resource after the fence");
        await phases.commit();
        sameEntries(await trial.original(), await snapshotOf(copy), "the resource after commit");
      },
    },
    {
      title: "commits once, however often it is told to (R23)",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const { phases } = await edited(trial);
        await phases.prepare();
        await phases.fence();
        const first = await phases.commit();
        const before = await trial.originalIdentities();
        const second = await phases.commit();
        sameEntries(await trial.originalIdentities(), before, "the resource after the repetition");
        assert.deepEqual(
          [second.added, second.changed, second.deleted],
          [first.added, first.changed, first.deleted],
        );
      },
    },
    {
      title: "gives the edits back when it is abandoned, also twice (R23)",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const original = await trial.originalIdentities();
        const { ref, phases } = await edited(trial);
        const { digest } = await trial.strategy.diff(ref);
        await phases.prepare();
        await phases.abandon();
        await phases.abandon();
        sameEntries(await trial.originalIdentities(), original, "the resource");
        assert.equal((await trial.strategy.diff(ref)).digest, digest);
        await trial.strategy.commit(ref, { expect: digest });
      },
    },
    {
      title: "has nothing to give back when it is abandoned before it was prepared (R23)",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const { ref, phases } = await edited(trial);
        const { digest } = await trial.strategy.diff(ref);
        await phases.abandon();
        assert.equal((await trial.strategy.diff(ref)).digest, digest);
      },
    },
    {
      title: "takes an applied commit back exactly, also twice, and can commit again",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const before = await trial.original();
        const { ref, phases } = await edited(trial);
        const { digest } = await trial.strategy.diff(ref);
        await phases.prepare();
        await phases.fence();
        await phases.commit();
        await phases.reverse();
        await phases.reverse();
        sameEntries(await trial.original(), before, "the resource after the reversal");
        await phases.abandon();
        assert.equal((await trial.strategy.diff(ref)).digest, digest);
        await trial.strategy.commit(ref, { expect: digest });
      },
    },
    {
      title: "refuses at the fence what somebody changed after it was prepared",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const { ref, phases } = await edited(trial);
        await phases.prepare();
        await trial.runOutside("printf 'theirs\\n' > a.txt");
        const before = await trial.originalIdentities();
        const { data } = await rejectsWith(SandboxConflictError, () => phases.fence());
        assert.deepEqual(
          data.conflicts.map(({ path }) => path),
          ["a.txt"],
        );
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
        await phases.abandon();
        assert.equal(await trial.readText(ref, "new/file.txt"), "new\n");
      },
    },
    {
      title: "says when there is nothing to be done",
      needs: [TWO_PHASE],
      prove: async (trial) => {
        const ref = await trial.create();
        const phases = new Phases(trial.unguarded, ref);
        const record = (await phases.prepare()) as { readonly noop?: unknown } | null;
        assert.equal(record?.noop, true);
      },
    },
  ],
};

async function edited(trial: Trial): Promise<{ ref: SandboxRef; phases: Phases }> {
  const ref = await trial.create();
  if (trial.capabilities.path) await trial.run(ref, EDITS);
  else await editByCalls(trial, ref);
  return { ref, phases: new Phases(trial.unguarded, ref) };
}

/** An edit of each kind that there is without a directory. */
async function editByCalls({ strategy, capabilities }: Trial, ref: SandboxRef): Promise<void> {
  await strategy.write(ref, "a.txt", "alpha\nbeta\ngamma\ndelta\n");
  await strategy.write(ref, "new/file.txt", "new\n");
  if (capabilities.pathCalls) await strategy.remove!(ref, "docs/other.md");
}

/**
 * A digest that is no longer the present one is refused by `prepare` too: the engine has looked before, and between the
 * two somebody may have written once more.
 */
export async function refusesToPrepare(
  raw: SandboxStrategy,
  ref: SandboxRef,
  digest: string,
): Promise<void> {
  const phases = new Phases(raw, ref);
  await rejectsWith(SandboxCommitError, () => phases.prepare({ expect: digest }));
  await phases.abandon();
}
