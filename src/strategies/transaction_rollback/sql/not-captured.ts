import { DatabaseError } from "../../../errors/index.ts";

/** The error for a difference between two copies that a log cannot repeat. */
export function notCaptured(why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(why, {
    data: { reason: "notCaptured", position: null, command: null, sqlState: null },
    ...(cause !== undefined && { cause }),
  });
}
