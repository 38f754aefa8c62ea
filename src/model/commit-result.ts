import type { Json } from "./sandbox-ref.ts";

/** A path that somebody else changed between the last check and the exchange; their version is kept. */
export interface ShelvedEdit {
  readonly path: string;
  /** Where the foreign version now lies. */
  readonly keptAt: string;
}

/** What one commit did. Failures are thrown, never returned. */
export interface CommitResult {
  readonly success: true;
  readonly sandboxId: string;
  readonly strategyName: string;
  /** Paths relative to the resource, as text, sorted by bytes; one of equal rows is there once for each of them. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly deleted: readonly string[];
  /** Nothing had to be applied. */
  readonly noop: boolean;
  readonly message: string | null;
  /** Transaction id, git commit id, …; null for an empty commit. */
  readonly revision: string | null;
  /** UTC, ISO 8601. */
  readonly committedAt: string;
  /** Whether `rollback` can still take this commit back, and with what. */
  readonly undoable: {
    readonly possible: boolean;
    readonly by: string;
    /** Where the data for it lies, how much it is, and on which device; where the strategy keeps some. */
    readonly path?: string;
    readonly bytes?: number;
    readonly device?: string;
  };
  readonly warnings: readonly string[];
  readonly metadata: { readonly [key: string]: Json };
}
