/** A connection that can be kept without keeping the process. */
interface Held extends AsyncDisposable {
  rest(): void;
}

/** The connections by which transactions were prepared, until they are settled. */
export class HeldSessions<S extends Held> {
  readonly #held = new Map<string, S>();

  /** Keeps a connection; it does not keep the process from ending. */
  hold(name: string, session: S): void {
    session.rest();
    this.#held.set(name, session);
  }

  /** Gives a connection to whoever settles its transaction, and closes it. */
  take(name: string): S | undefined {
    const session = this.#held.get(name);
    this.#held.delete(name);
    return session;
  }

  /** Asks the connection that prepared; one that is lost, or does not know any more, is given up. */
  async ask(name: string, isThere: (session: S) => Promise<boolean>): Promise<boolean> {
    const session = this.#held.get(name);
    if (session === undefined) return false;
    try {
      if (await isThere(session)) {
        // Should nobody settle it, this connection must not keep the process from ending.
        session.rest();
        return true;
      }
    } catch {
      // The connection is lost: another one tells.
    }
    this.#held.delete(name);
    await session[Symbol.asyncDispose]();
    return false;
  }
}
