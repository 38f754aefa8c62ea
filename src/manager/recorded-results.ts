import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { CommitResult } from "../model/commit-result.ts";

const recorded = new WeakMap<CommitResult, SandboxRecord>();

/** Remembers that the record of a sandbox with this result of its commit is on disk. */
export function noteRecorded(result: CommitResult, record: SandboxRecord): void {
  recorded.set(result, record);
}

/** The record that is on disk with exactly this result; null when nobody has written it, or when the result is another one. */
export function recordedWith(result: CommitResult | null): SandboxRecord | null {
  return (result === null ? undefined : recorded.get(result)) ?? null;
}
