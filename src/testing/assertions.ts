import assert from "node:assert/strict";
import { SandboxError } from "../index.ts";

/** The error of the given class that the call rejects with; anything else, success included, breaks the rule. */
export async function rejectsWith<T extends SandboxError>(
  kind: abstract new (...args: never[]) => T,
  call: () => Promise<unknown>,
): Promise<T> {
  const thrown = await rejection(call, kind.name);
  assert.ok(thrown instanceof kind, `expected ${kind.name}, not ${describe(thrown)}`);
  return thrown;
}

/** Whatever the call rejects with; success breaks the rule. */
export async function rejection(
  call: () => Promise<unknown>,
  expected = "an error",
): Promise<unknown> {
  try {
    await call();
  } catch (thrown) {
    return thrown;
  }
  assert.fail(
    `the last call of this rule succeeded, and should have been refused with ${expected}`,
  );
}

/** Compares two trees or lists entry by entry, so that a failure names the paths that differ. */
export function sameEntries(
  actual: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
  what: string,
): void {
  const paths = new Set([...expected.keys(), ...actual.keys()]);
  const differences = [...paths]
    .filter((path) => actual.get(path) !== expected.get(path))
    .map((path) => ({
      path,
      expected: expected.get(path) ?? "nothing",
      actual: actual.get(path) ?? "nothing",
    }));
  assert.deepEqual(differences, [], what);
}

function describe(thrown: unknown): string {
  if (thrown instanceof SandboxError) return `${thrown.code} ${JSON.stringify(thrown.data)}`;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
