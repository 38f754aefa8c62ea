import type { SandboxAddress } from "../../contract/strategy.ts";

/**
 * How real clones of a server's database are made, so that commands can have one of their own; everything else is the
 * strategy's work. Databases are given by URLs with everything that is needed to connect, passwords included.
 */
export interface DatabaseClones {
  /**
   * Makes a database of this name with all that the one at `source` holds at one moment. One of that name that is there
   * already goes first.
   */
  make(source: string, name: string): Promise<void>;
  /**
   * Ends all connections to a clone and gives it another name, so that nobody else finds it any more. Idempotent. False
   * when there is neither the one nor the other.
   */
  rename(source: string, name: string, newName: string): Promise<boolean>;
  /** Ends all connections to a clone and removes it. Idempotent. */
  remove(source: string, name: string): Promise<void>;
  /** The URL of a clone. */
  urlOf(source: string, name: string): string;
  /** How a command finds the database at a URL. */
  addressOf(url: string): SandboxAddress;
}
