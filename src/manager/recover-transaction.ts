import type { OpenTransaction } from "../journal/open-transaction.ts";
import type { Intent, IntentMember } from "../journal/transaction-record.ts";
import { type Engine, guardedOf } from "./engine.ts";
import { lockResources } from "./resource-locks.ts";
import { TransactionRun } from "./transaction.ts";
import { type Member, Members } from "./transaction-members.ts";

/** How a transaction was left. */
export interface SettledTransaction {
  readonly outcome: "committed" | "aborted";
  /** What kept it from being cleared away; null when nothing did. */
  readonly obstacle: unknown;
}

/**
 * Settles one transaction whose owner is dead: follows its decision, or decides that it is aborted. Idempotent, and
 * safe against being killed at any point. The caller holds the locks of its plans.
 * @throws SandboxError when a member cannot be settled now; everything stays for the next try.
 */
export async function recoverTransaction(
  engine: Engine,
  ulid: string,
): Promise<SettledTransaction | "busy" | "gone"> {
  const opened = await engine.log.open(ulid);
  if (typeof opened === "string") return opened;
  await using transaction = opened;
  const intent = transaction.intent();
  if (intent === null) {
    await transaction.remove();
    return { outcome: "aborted", obstacle: null };
  }
  const { gid, kind, message } = intent;
  const members = await withStrategies(engine, intent.members);
  const context = { gid, ulid, kind, recovering: true };
  const run = new TransactionRun(
    engine,
    transaction,
    context,
    new Members(context, members),
    message,
  );
  await using _locks = await lockResources(
    engine,
    members.map(({ location }) => location),
  );
  const outcome = await settle(run, transaction, intent);
  return { outcome, obstacle: run.obstacle };
}

async function settle(
  run: TransactionRun,
  transaction: OpenTransaction,
  intent: Intent,
): Promise<SettledTransaction["outcome"]> {
  const done = transaction.outcome();
  if (done !== null) {
    await run.clear(done.outcome);
    return done.outcome;
  }
  if (transaction.isReversed()) {
    await run.reverse();
    return "aborted";
  }
  const isPrepared = intent.phase === "prepared";
  const decision = transaction.decision() ?? (await run.settleDecision(isPrepared));
  if (decision === "ABORT") {
    await run.abort(isPrepared);
    return "aborted";
  }
  await run.apply("leave");
  return "committed";
}

async function withStrategies(
  engine: Engine,
  members: readonly IntentMember[],
): Promise<readonly Member[]> {
  const found: Member[] = [];
  for (const member of members) {
    const { raw: strategy } = await guardedOf(engine, member.ref.strategyName);
    found.push({ ...member, strategy, isGivenUp: !engine.store.has(member.ref) });
  }
  return found;
}
