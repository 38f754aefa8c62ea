import { capabilitiesOf } from "../contract/capabilities-of.ts";
import type { CommitOptions, SandboxStrategy } from "../contract/strategy.ts";
import {
  DatabaseError,
  DatabaseInUseError,
  InsufficientSpaceError,
  PathEscapeError,
  PlanBusyError,
  PlatformUnsupportedError,
  SandboxCommitError,
  SandboxPathError,
  SandboxStateError,
  UnsupportedStrategyError,
  describeThrown,
} from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Done } from "../journal/transaction-record.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { type Engine, type Guarded, timestamp } from "./engine.ts";
import { asCommitError } from "./failures.ts";
import { holdSignals } from "./hold-signals.ts";
import { type Changes, moveIfPossible, moveRecord, movedRecord } from "./record-moves.ts";
import { recordedWith } from "./recorded-results.ts";
import { refuseUnreviewed } from "./refuse-unreviewed.ts";
import { completeResult } from "./results.ts";
import { inContext, tracked, withSandbox } from "./with-sandbox.ts";

/** Errors that are thrown only before anything was touched. */
const BEFORE_ANYTHING = [
  DatabaseError,
  DatabaseInUseError,
  InsufficientSpaceError,
  PathEscapeError,
  PlanBusyError,
  PlatformUnsupportedError,
  SandboxPathError,
  SandboxStateError,
  UnsupportedStrategyError,
];

/**
 * Commits a sandbox. COMMITTING is durable before the strategy is called. On failure the sandbox is ACTIVE again with
 * its edits when the resource is proven to be as before, and ERRORED only when it is not.
 */
export function commitSandbox(
  guarded: Guarded,
  ref: SandboxRef,
  options: CommitOptions = {},
): Promise<CommitResult> {
  const failure = (thrown: unknown): ReturnType<typeof asCommitError> =>
    asCommitError(thrown, true);
  const call = { ref, operation: "commit", access: "change", options, failure } as const;
  return tracked(guarded.engine, async () => {
    const result = await withSandbox(guarded, call, (before) =>
      commitLocked(guarded, before, options),
    );
    await guarded.engine.undo.settle(guarded.engine);
    return result;
  });
}

/** The same for a caller that holds the plan's lock and has checked the record. */
export async function commitLocked(
  guarded: Guarded,
  before: SandboxRecord,
  options: CommitOptions,
): Promise<CommitResult> {
  using _hold = holdSignals();
  const { engine, raw } = guarded;
  const { ref } = before;
  await refuseUnreviewed(guarded, ref, options);
  await using _expected = raw.expectCommit?.(ref);
  const record = await moveRecord(engine, before, "COMMITTING", {
    inFlight: {
      operation: "commit",
      from: before.status,
      transaction: engine.ids.next(),
      undone: false,
    },
  });
  let given: CommitResult;
  try {
    given = await raw.commit(ref, options);
  } catch (thrown) {
    return await settleFailure(guarded, record, thrown, options.message);
  }
  return await finish(guarded, record, given, options.message);
}

/** Records a commit that happened. Nothing from here on can make it a failure. */
export async function finish(
  { engine, raw }: Guarded,
  record: SandboxRecord,
  given: CommitResult | null,
  message: string | null = null,
): Promise<CommitResult> {
  const { planId, sandboxId } = record.ref;
  const transaction = transactionOf(record);
  const { log } = engine;
  const isKept =
    transaction !== null && (log.hasOutcome(transaction) || log.isRunning(transaction));
  const lastTransaction = isKept ? transaction : null;
  let result = recordedWith(given)?.lastResult ?? null;
  if (result === null) {
    const facts = { given, message, lastTransaction };
    const changes = committedChanges(engine, raw, record, facts);
    await moveIfPossible(engine, record, "COMMITTED", changes);
    result = changes.lastResult;
  }
  engine.undo.add(result);
  const { noop, revision } = result;
  const data = { planId, sandboxId, noop, revision, transaction: lastTransaction };
  engine.emit("sandbox.committed", data);
  return result;
}

/** What a transaction writes of a sandbox together with its outcome, so that `finish` need not. */
export function committedRecord(
  engine: Engine,
  raw: SandboxStrategy,
  record: SandboxRecord,
  facts: Pick<CommitFacts, "given" | "message">,
): SandboxRecord {
  const lastTransaction = transactionOf(record);
  const changes = committedChanges(engine, raw, record, { ...facts, lastTransaction });
  return movedRecord(engine, record, "COMMITTED", changes);
}

/** What a commit that happened is recorded with. */
interface CommitFacts {
  readonly given: CommitResult | null;
  readonly message: string | null;
  readonly lastTransaction: string | null;
}

function committedChanges(
  engine: Engine,
  raw: SandboxStrategy,
  { ref }: SandboxRecord,
  { given, message, lastTransaction }: CommitFacts,
): Changes & { readonly lastResult: CommitResult } {
  const { undoCommit: undoable } = capabilitiesOf(raw, ref);
  const lastResult = completeResult(given, ref, { message, at: timestamp(engine), undoable });
  return { inFlight: null, lastError: null, lastTransaction, lastResult };
}

async function settleFailure(
  guarded: Guarded,
  record: SandboxRecord,
  thrown: unknown,
  message: string | undefined,
): Promise<CommitResult> {
  const { engine } = guarded;
  const { ref } = record;
  const transaction = transactionOf(record);
  const outcome = transaction === null ? null : engine.log.outcomeOf(transaction);
  if (outcome?.outcome === "committed") {
    // The strategy threw after its own transaction was decided and applied.
    const result = resultIn(outcome, ref);
    const warnings = [...(result?.warnings ?? []), `After the commit: ${describeThrown(thrown)}`];
    return finish(guarded, record, result && { ...result, warnings }, message);
  }
  const isProven = await isAsBefore(guarded, record, thrown);
  const error = inContext(asCommitError(thrown, isProven), ref);
  const data = { planId: ref.planId, sandboxId: ref.sandboxId, code: error.code };
  const status = isProven ? "ACTIVE" : "ERRORED";
  const changes = { lastError: error.toJSON(), ...(isProven && { inFlight: null }) };
  await moveIfPossible(engine, record, status, changes);
  engine.emit("sandbox.commitFailed", { ...data, status }, "warning");
  throw error;
}

/** Whether the resource is proven to be as before the commit. */
async function isAsBefore(
  guarded: Guarded,
  record: SandboxRecord,
  thrown: unknown,
): Promise<boolean> {
  const { engine, raw } = guarded;
  const { prepare, undoCommit } = capabilitiesOf(raw, record.ref);
  const transaction = transactionOf(record);
  // A transaction that is cleared away without an outcome has touched nothing, or has taken it back.
  if (prepare) return transaction !== null && !engine.log.isRunning(transaction);
  if (thrown instanceof SandboxCommitError) return thrown.data.originalRestored;
  if (BEFORE_ANYTHING.some((kind) => thrown instanceof kind)) return true;
  if (!undoCommit || raw.undoCommit === undefined) return false;
  try {
    await raw.undoCommit(record.ref);
    return true;
  } catch (failure) {
    const { planId, sandboxId } = record.ref;
    const data = { planId, sandboxId, reason: describeThrown(failure) };
    engine.emit("sandbox.undoFailed", data, "warning");
    return false;
  }
}

/** What a recorded outcome says about one sandbox. */
export function resultIn(done: Done | null, ref: SandboxRef): CommitResult | null {
  const member = done?.members.find((one) => one.ref.sandboxId === ref.sandboxId);
  return member?.result ?? null;
}

/** The transaction that an interrupted or running call has recorded. */
export function transactionOf({ inFlight }: SandboxRecord): string | null {
  return inFlight !== null && "transaction" in inFlight ? inFlight.transaction : null;
}
