import { TransactionLog } from "../journal/transaction-log.ts";
import type { TransactionKind } from "../journal/transaction-record.ts";

/** A transaction whose process died before it ended. */
export interface InterruptedTransaction {
  readonly transaction: string;
  readonly kind: TransactionKind | null;
  /** UTC, ISO 8601; null where it is not known. */
  readonly since: string | null;
  /** What was decided; null: nothing, so it will be taken back unless a member whose own commit decides says otherwise. */
  readonly decision: "COMMIT" | "ABORT" | null;
  /** The real resources that it is about. */
  readonly locations: readonly string[];
  /** The process that began it. */
  readonly pid: number | null;
}

/** The transactions that wait for recovery, oldest first. Changes nothing; those with a living owner are left out. */
export async function interruptedTransactions(
  stateDirectory: string,
): Promise<readonly InterruptedTransaction[]> {
  const log = new TransactionLog(stateDirectory);
  const found: InterruptedTransaction[] = [];
  for (const id of log.list()) {
    const opened = await log.open(id);
    if (opened === "busy" || opened === "gone") continue;
    await using transaction = opened;
    const intent = transaction.intent();
    const owner = log.ownerOf(id);
    found.push({
      transaction: id,
      kind: intent?.kind ?? null,
      since: intent?.at ?? owner?.since ?? null,
      decision: transaction.decision(),
      locations: intent?.members.map(({ location }) => location) ?? [],
      pid: owner?.pid ?? null,
    });
  }
  return found;
}
