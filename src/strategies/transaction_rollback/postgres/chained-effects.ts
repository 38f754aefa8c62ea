import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { keyText } from "../sql/row-store.ts";

/** An effect with what tells the versions of rows apart as long as a statement runs. */
export interface CapturedEffect {
  readonly effect: RowEffect;
  readonly from: string | null;
  readonly to: string | null;
}

/** The time in which a key was in use, from one effect to another; null where that was so before, or is so after all of them. */
interface Stay {
  readonly start: number | null;
  end: number | null;
}

/**
 * Brings effects of one statement into the order in which they happened to each row. A trigger is told of a row after
 * its statement is done with all rows, and after what other triggers have made of that row since.
 */
export function chained(captured: readonly CapturedEffect[]): readonly RowEffect[] {
  const needs = captured.map((): number[] => []);
  const next = new Map(captured.map(({ from }, at) => [from, at]));
  const made = new Set(captured.map(({ to }) => to));
  const stays = new Map<string, Stay[]>();
  for (const [at, { from }] of captured.entries()) {
    if (from !== null && made.has(from)) continue;
    follow(captured, at, next, needs, stays);
  }
  for (const list of stays.values()) {
    const order = list.toSorted((one, other) => rank(one) - rank(other));
    for (const [at, { end }] of order.entries()) {
      const start = order[at + 1]?.start ?? null;
      if (end !== null && start !== null && end !== start) needs[start]?.push(end);
    }
  }
  return sorted(needs).flatMap((at) => captured[at]?.effect ?? []);
}

/** Follows one row from version to version. */
function follow(
  captured: readonly CapturedEffect[],
  first: number,
  next: ReadonlyMap<string | null, number>,
  needs: readonly number[][],
  stays: Map<string, Stay[]>,
): void {
  let stay: Stay | null = null;
  let previous: number | null = null;
  for (let at: number | undefined = first; at !== undefined;) {
    const one: CapturedEffect | undefined = captured[at];
    if (one === undefined) return;
    if (previous !== null) needs[at]?.push(previous);
    const { before, after } = keysOf(one.effect);
    if (before !== null) stay ??= enter(stays, before, null);
    if (before !== after) {
      if (stay !== null) stay.end = at;
      stay = after === null ? null : enter(stays, after, at);
    }
    previous = at;
    at = one.to === null ? undefined : next.get(one.to);
  }
}

function enter(stays: Map<string, Stay[]>, key: string, start: number | null): Stay {
  const stay = { start, end: null };
  const known = stays.get(key);
  if (known === undefined) stays.set(key, [stay]);
  else known.push(stay);
  return stay;
}

/** Who was there is the first, and who stays is the last. */
function rank({ start, end }: Stay): number {
  if (start === null) return -1;
  return end === null ? Number.MAX_SAFE_INTEGER : start;
}

function keysOf(effect: RowEffect): { before: string | null; after: string | null } {
  const nameOf = (key: readonly string[] | null): string | null =>
    key && `${tablePath(effect)} ${keyText(key) ?? ""}`;
  return { before: nameOf(effect.keyBefore), after: nameOf(effect.keyAfter) };
}

/** All numbers, each after those that it needs, and otherwise as they are. */
function sorted(needs: readonly (readonly number[])[]): readonly number[] {
  const order = new Set<number>();
  const seen = new Set<number>();
  for (const first of needs.keys()) {
    const stack = [first];
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      // Seen twice: what it needs is done, or goes in a circle, which no order can help.
      const missing = seen.has(at) ? [] : (needs[at] ?? []).filter((need) => !seen.has(need));
      seen.add(at);
      if (missing.length > 0) {
        stack.push(...missing);
      } else {
        order.add(at);
        stack.pop();
      }
    }
  }
  return [...order];
}
