import { DecidingLedger, UndoableLedger } from "../fixtures/ledger/ledger-strategy.ts";

/** Strategies that cannot prepare, for plans in which such members take part. */
export const OWN_STRATEGIES = {
  "undoable-ledger": UndoableLedger,
  "deciding-ledger": DecidingLedger,
} as const;
