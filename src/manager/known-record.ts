import { SandboxStateError } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { ALLOWED_FROM, type SandboxOperation, isAllowed } from "../model/status.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Engine } from "./engine.ts";

/**
 * The durable record of a ref. A ref is a claim: only one that equals the recorded one in every field passes.
 * @throws SandboxStateError (`SANDBOX_STATE`, reason `unknownRef` or `alteredRef`), RecordDamagedError.
 */
export function knownRecord(
  engine: Engine,
  ref: SandboxRef,
  operation: SandboxOperation,
  strategyName?: string,
): SandboxRecord {
  const record = findRecord(engine, ref);
  if (record === null) throw unknownRef(ref, operation);
  const isSame =
    canonicalJson(record.ref) === canonicalJson(ref) &&
    record.ref.strategyName === (strategyName ?? ref.strategyName);
  if (isSame) return record;
  throw refError(record.ref, operation, record.status, "alteredRef", "The ref was altered");
}

/** The record that a ref names, without a check of anything else; null when there is none. */
export function findRecord(engine: Engine, ref: SandboxRef): SandboxRecord | null {
  return isRefLike(ref) ? engine.store.get(ref) : null;
}

/** The error for a ref that this state directory does not know. */
export function unknownRef(ref: SandboxRef, operation: SandboxOperation): SandboxStateError {
  const message = "No sandbox with this ref is known here";
  return refError(isRefLike(ref) ? ref : null, operation, "PENDING", "unknownRef", message);
}

/** Refuses a call that the status table does not have. */
export function assertAllowed(record: SandboxRecord, operation: SandboxOperation): void {
  if (!isAllowed(operation, record.status)) throw notNow(record, operation);
}

/** The error for a call that does not fit the sandbox's status. */
export function notNow(
  { ref, status }: SandboxRecord,
  operation: SandboxOperation,
): SandboxStateError {
  const message = `${operation} is not possible in status ${status}`;
  return refError(ref, operation, status, "status", message);
}

function isRefLike(ref: unknown): ref is SandboxRef {
  if (typeof ref !== "object" || ref === null) return false;
  const { planId, sandboxId } = ref as Partial<SandboxRef>;
  return typeof planId === "string" && typeof sandboxId === "string";
}

function refError(
  ref: SandboxRef | null,
  attempted: SandboxOperation,
  status: SandboxRecord["status"],
  reason: "status" | "unknownRef" | "alteredRef",
  message: string,
): SandboxStateError {
  return new SandboxStateError(message, {
    data: { status, attempted, allowedFrom: ALLOWED_FROM[attempted], reason },
    operation: attempted,
    planId: ref?.planId,
    resourceId: ref?.resourceId,
    sandboxId: ref?.sandboxId,
    strategyName: ref?.strategyName,
    hint: hintFor(status, reason),
  });
}

function hintFor(status: SandboxRecord["status"], reason: string): string {
  if (reason !== "status")
    return "Use the ref exactly as create returned it, with the same state directory.";
  if (status === "COMMITTED") return "A committed sandbox is frozen: roll it back or clean it up.";
  if (status === "ROLLED_BACK")
    return "Make an edit first: there is nothing that could be committed or discarded.";
  return "Work on this sandbox was interrupted: run recover.";
}
