import type { StrategyHost } from "../../contract/host.ts";
import type { RemovalOptions } from "../../contract/strategy.ts";
import { DatabaseError, SandboxCleanupError, describeThrown } from "../../errors/index.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import type { OpenDatabase } from "./commit-record.ts";
import { transactionName } from "./mariadb/transaction-name.ts";
import { canPrepare, connectionOf, databaseOf, isGone } from "./ref-facts.ts";

/** How a sandbox is left. */
interface Leaving {
  readonly force: boolean;
  readonly decided: NonNullable<RemovalOptions["decided"]>;
}

/**
 * Does what leaves nothing of a sandbox on its server. A server that is away will be asked when it is back. Only where its
 * connection was taken out of the configuration is it gone for good: by force that is told, and nothing is asked.
 */
export async function leaveServer(
  host: StrategyHost,
  { ref, place }: OpenDatabase,
  how: Leaving,
  work: () => Promise<void>,
): Promise<void> {
  const { force, decided } = how;
  const connection = connectionOf(ref);
  const marks = place.marks();
  try {
    await work();
  } catch (thrown) {
    if (!force || !isGone(ref, host)) throw notAsked(thrown, connection, place.folder);
    const names = canPrepare(ref) ? marks.map(({ name }) => name) : [];
    const statements = names.map((name) => endOf(ref, name, decided));
    const about = { sandboxId: ref.sandboxId, connection, database: databaseOf(ref), statements };
    host.emit("sandbox.transactionsLeft", about, "warning");
  }
}

/** Nobody could ask the server what stands prepared there. */
function notAsked(thrown: unknown, connection: string, folder: string): unknown {
  if (!(thrown instanceof DatabaseError) || thrown.data.reason !== "unreachable") return thrown;
  return new SandboxCleanupError(`Work was interrupted, and ${describeThrown(thrown)}`, {
    data: { remaining: [folder] },
    operation: "cleanup",
    hint: `Make the server reachable, then clean up again. If it is gone for good, take the connection ${connection} out of the configuration, and clean up by force.`,
    cause: thrown,
  });
}

/** How an administrator ends what may stand prepared as the rest of its plan has ended. */
function endOf(ref: SandboxRef, name: string, decided: Leaving["decided"]): string {
  const [, gid = "", back] = /^(.*?):\d+(:back)?$/.exec(name) ?? [];
  // What takes a commit back is committed as well.
  const isWanted = decided[gid] === (back === undefined ? "published" : "reversed");
  const verb = isWanted ? "COMMIT" : "ROLLBACK";
  return ref.metadata["engine"] === "mariadb"
    ? `XA ${verb} ${transactionName(name).xid}`
    : `${verb} PREPARED '${name}'`;
}
