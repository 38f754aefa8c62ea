import type { BegunTransaction } from "../engine.ts";
import type { Session } from "./session.ts";

/** A session in which a log is being applied while nobody waits for it. */
export class BegunSession implements BegunTransaction {
  readonly isBegun = true;
  readonly #session: Promise<Session>;
  #isTaken = false;

  constructor(session: Promise<Session>) {
    this.#session = session;
    // Told to whoever takes it; otherwise nobody needs it.
    session.catch(() => undefined);
  }

  /**
   * The session, for whoever disposes it from now on.
   * @throws what applying the log threw.
   */
  take(): Promise<Session> {
    this.#isTaken = true;
    return this.#session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isTaken) return;
    const session = await this.#session.catch(() => null);
    await session?.[Symbol.asyncDispose]();
  }
}
