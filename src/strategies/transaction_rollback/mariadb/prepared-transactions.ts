import { setTimeout as pause } from "node:timers/promises";
import { beforeSending } from "../engine.ts";
import { HeldSessions } from "../sql/held-sessions.ts";
import { notEnded } from "../sql/server-errors.ts";
import { type Session, errorNumberOf, literal } from "./session.ts";
import { type TransactionName, transactionName } from "./transaction-name.ts";

/** The server says so also while the connection that prepared is there: only the list tells. */
const NO_SUCH_TRANSACTION = 1397;
const PATIENCE_MS = 10_000;

/** Transactions in two phases, by XA. The list of the server is the only truth about them. */
export class PreparedTransactions {
  readonly #open: () => Promise<Session>;
  /** As long as the connection that prepared is there, nobody else can settle. */
  readonly #held = new HeldSessions<Session>();

  constructor(open: () => Promise<Session>) {
    this.#open = open;
  }

  /** Does work in a transaction and leaves it prepared; `begin` comes before it, and gives the work. */
  async prepare(
    name: string,
    begin: (session: Session) => Promise<() => Promise<void>>,
  ): Promise<void> {
    const { xid, lock } = transactionName(name);
    const session = await beforeSending(() => this.#open());
    try {
      await beforeSending(async () => {
        // Whoever has this lock may be about to prepare: the server tells which connection it is.
        const [got] = await session.ask(
          `SELECT GET_LOCK(${literal(lock)}, ${PATIENCE_MS / 1000}) AS isOurs`,
        );
        if (got?.["isOurs"] !== "1") throw notEnded();
        const work = await begin(session);
        await session.execute(`XA START ${xid}`);
        await work();
        await session.ask(`XA END ${xid}`);
      });
      await session.ask(`XA PREPARE ${xid}`);
    } catch (thrown) {
      await session[Symbol.asyncDispose]();
      throw thrown;
    }
    this.#held.hold(name, session);
  }

  /** Whether a transaction of that name is prepared. Ends whoever may still be about to prepare it. */
  async isThere(name: string): Promise<boolean> {
    const own = transactionName(name);
    if (await this.#held.ask(name, (session) => isListed(session, own))) return true;
    await using session = await this.#open();
    await endOthers(session, own);
    return await isListed(session, own);
  }

  /** Commits or rolls back a prepared transaction; false when there is none of that name any more. */
  async settle(name: string, decision: "COMMIT" | "ROLLBACK"): Promise<boolean> {
    const own = transactionName(name);
    const held = this.#held.take(name);
    await using session = held ?? (await this.#open());
    if (held === undefined) await endOthers(session, own);
    const latest = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        await session.ask(`XA ${decision} ${own.xid}`);
        return true;
      } catch (thrown) {
        if (errorNumberOf(thrown) !== NO_SUCH_TRANSACTION) throw thrown;
        if (!(await isListed(session, own))) return false;
        // Its connection is on the way out.
        if (Date.now() > latest) throw thrown;
        await pause(20);
      }
    }
  }
}

/** Waits until nobody can prepare or settle the transaction any more, so that the list tells the truth. */
async function endOthers(session: Session, { lock }: TransactionName): Promise<void> {
  const latest = Date.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await session.ask(`SELECT IS_USED_LOCK(${literal(lock)}) AS id`);
    const id = row?.["id"] ?? null;
    if (id === null) return;
    if (Date.now() > latest) throw notEnded();
    // Gone meanwhile, or on the way out.
    await session.ask(`KILL CONNECTION ${Number(id)}`).catch(() => undefined);
    await pause(20);
  }
}

async function isListed(session: Session, { listed }: TransactionName): Promise<boolean> {
  const rows = await session.ask("XA RECOVER");
  return rows.some(
    (row) =>
      `${row["gtrid_length"] ?? ""} ${row["bqual_length"] ?? ""} ${row["data"] ?? ""}` === listed,
  );
}
