import type { StrategyHost } from "../../contract/host.ts";
import { DatabaseError, SandboxCleanupError, describeThrown } from "../../errors/index.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import type { OpenDatabase } from "./commit-record.ts";
import { transactionName } from "./mariadb/transaction-name.ts";

/**
 * Does what leaves nothing of a sandbox on its server. A server that is away will be asked when it is back. Only where its
 * connection was taken out of the configuration is it gone for good: by force that is told, and nothing is asked.
 */
export async function leaveServer(
  host: StrategyHost,
  { ref, place }: OpenDatabase,
  { force, connection }: { readonly force: boolean; readonly connection: string },
  work: () => Promise<void>,
): Promise<void> {
  const marks = place.marks();
  try {
    await work();
  } catch (thrown) {
    const isGone = ref.metadata["engine"] !== "sqlite" && !host.connections().has(connection);
    if (!force || !isGone) throw notAsked(thrown, connection, place.folder);
    const canPrepare = ref.metadata["canPrepare"] !== false;
    const statements = canPrepare ? marks.map(({ name }) => rollbackOf(ref, name)) : [];
    const about = { sandboxId: ref.sandboxId, connection, statements };
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

/** How an administrator rolls back what may stand prepared. */
function rollbackOf({ metadata }: SandboxRef, name: string): string {
  return metadata["engine"] === "mariadb"
    ? `XA ROLLBACK ${transactionName(name).xid}`
    : `ROLLBACK PREPARED '${name}'`;
}
