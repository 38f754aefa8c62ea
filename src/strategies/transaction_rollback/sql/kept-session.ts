import type { Connection } from "../connection.ts";
import type { IdlePool, Keepable } from "../idle-pool.ts";

/** What is to be there at once is awaited so long: a new connection, or the answer of one that was kept. */
export const CONNECT_MS = 10_000;

/** One connection to a server. Whoever opens it gives it back, and it is kept for the next call where that is wanted. */
export abstract class KeptSession implements AsyncDisposable, Keepable {
  /** What the server and the database are, once somebody has asked: it cannot change while the connection is there. */
  identity: string | null = null;
  readonly #answerMs: number;
  #address = "";
  #keep: () => Promise<void> = () => this.end();

  /** `answerMs` is how long the server may be silent over what is quick. */
  constructor(answerMs: number) {
    this.#answerMs = answerMs;
  }

  abstract rest(): void;
  abstract end(): Promise<void>;
  /** Ends what a call has left in the session; settles when no transaction and no lock of it is there any more. */
  protected abstract forget(): Promise<void>;
  /** Settles when the session is as new, and answers. */
  protected abstract beReady(): Promise<void>;

  /** Ends the connection at once; whoever waits for an answer is told the reason. */
  protected abstract cut(reason: Error): void;

  /** Waits for what is quick where the server answers at all. A connection on which nothing comes is cut. */
  protected async answered<T>(work: Promise<T>, atMostMs = this.#answerMs): Promise<T> {
    const limitMs = Math.min(atMostMs, this.#answerMs);
    const timer = setTimeout(() => {
      this.cut(new Error(`the server did not answer within ${limitMs / 1000} seconds`));
    }, limitMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Says where the connection leads, and what becomes of it after a call. */
  keepBy(address: string, keep: () => Promise<void>): void {
    this.#address = address;
    this.#keep = keep;
  }

  /** Makes sure that it can be used once more. */
  async wake(address: string): Promise<void> {
    if (address !== this.#address) throw new Error("the connection leads elsewhere");
    await this.answered(this.beReady(), CONNECT_MS);
  }

  /** Gives the connection back: no transaction, lock or setting of the call is left in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.answered(this.forget());
    } catch {
      return this.end();
    }
    await this.#keep();
  }
}

/** Where sessions come from: a configured connection, and those that are kept of it; null where none is. */
export interface SessionSource<S extends KeptSession> {
  readonly connection: Connection;
  readonly idle: IdlePool<S> | null;
}

/**
 * Takes a connection that was kept, if it still leads to the same place and answers, or makes one. A `new` one is as the
 * server is set up now.
 */
export async function openSession<S extends KeptSession>(
  { connection, idle }: SessionSource<S>,
  which: "new" | "any",
  connect: (address: string) => Promise<S>,
): Promise<S> {
  const address = connection.address();
  const { name } = connection;
  const pool = which === "new" ? null : idle;
  const kept = (await pool?.take(name, (session) => session.wake(address))) ?? null;
  if (kept !== null) return kept;
  const session = await connect(address);
  if (idle !== null) session.keepBy(address, () => idle.give(name, session));
  return session;
}
