import type { StrategyOrigin } from "./resource.ts";

/** JSON data. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The version of the ref's JSON shape that this release writes. */
export const REF_SCHEMA_VERSION = 1;

/**
 * The immutable handle of one sandbox. It is plain JSON: together with the state directory it is all that another
 * process needs. It is a claim, not a permission: every call checks it against the durable record.
 */
export interface SandboxRef {
  readonly schemaVersion: typeof REF_SCHEMA_VERSION;
  readonly sandboxId: string;
  readonly planId: string;
  readonly resourceId: string;
  readonly strategyName: string;
  /** Which setting picked the strategy. */
  readonly chosenBy: StrategyOrigin;
  /** UTC, ISO 8601. */
  readonly createdAt: string;
  /** Names the state of the real resource that this sandbox started from. */
  readonly baseFingerprintId: string;
  /** Facts of the strategy, such as the mode it runs in. Never a secret. */
  readonly metadata: { readonly [key: string]: Json };
}
