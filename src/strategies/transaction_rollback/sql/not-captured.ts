import { DatabaseError } from "../../../errors/index.ts";

/** The error for a difference between two copies that a log cannot repeat; `hint` says what works instead. */
export function notCaptured(why: string, cause?: unknown, hint?: string): DatabaseError {
  return new DatabaseError(why, {
    data: { reason: "notCaptured", position: null, command: null, sqlState: null },
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
  });
}
