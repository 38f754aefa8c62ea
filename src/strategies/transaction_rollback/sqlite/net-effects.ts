import type { RowConflict } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { keyPath, tablePath } from "../row-changes.ts";

interface NetChange {
  readonly effect: RowEffect;
  readonly before: string | null;
  readonly after: string | null;
}

/** The first effect on each row that was there, or was not, when the first effect happened. */
export function firstEffects(effects: readonly RowEffect[]): readonly RowEffect[] {
  const seen = new Set<string>();
  return effects.filter((effect) => {
    const [before, after] = rowsOf(effect);
    const isFirst = !seen.has(before ?? after ?? "");
    for (const name of [before, after]) if (name !== null) seen.add(name);
    return isFirst;
  });
}

/** Whether every effect finds its row as the one before has left it. */
export function isChain(effects: readonly RowEffect[]): boolean {
  const rows = new Map<string, string | null>();
  for (const effect of effects) {
    const [before, after] = rowsOf(effect);
    if (before !== null) {
      if ((rows.get(before) ?? effect.before) !== effect.before || rows.get(before) === null)
        return false;
      rows.set(before, null);
    }
    if (after !== null) {
      if ((rows.get(after) ?? null) !== null) return false;
      rows.set(after, effect.after);
    }
  }
  return true;
}

/** The rows that two lists of effects do not leave the same way, as conflicts. */
export function differences(
  recorded: readonly RowEffect[],
  found: readonly RowEffect[],
): readonly RowConflict[] {
  const [ours, real] = [netOf(recorded), netOf(found)];
  const names = new Set([...ours.keys(), ...real.keys()]);
  return [...names].flatMap((name): RowConflict[] => {
    const [one, other] = [ours.get(name), real.get(name)];
    if (one?.before === other?.before && one?.after === other?.after) return [];
    const effect = one?.effect ?? other?.effect;
    if (effect === undefined) return [];
    const { rowBefore: base, rowAfter } = one?.effect ?? { rowBefore: null, rowAfter: null };
    const path = one === undefined ? tablePath(effect) : name;
    return [
      { path, reason: "changed", base, theirs: other?.effect.rowAfter ?? null, ours: rowAfter },
    ];
  });
}

function netOf(effects: readonly RowEffect[]): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  for (const effect of effects) {
    const [before, after] = rowsOf(effect);
    if (before !== null) {
      const known = net.get(before);
      net.set(before, {
        effect,
        before: known === undefined ? effect.before : known.before,
        after: null,
      });
    }
    if (after !== null)
      net.set(after, { effect, before: net.get(after)?.before ?? null, after: effect.after });
  }
  return new Map([...net].filter(([, { before, after }]) => before !== after));
}

/** The paths of the row before and after. */
function rowsOf(effect: RowEffect): readonly [string | null, string | null] {
  const name = (key: readonly string[] | null): string | null =>
    key && `${tablePath(effect)}/${keyPath(key)}`;
  return [name(effect.keyBefore), name(effect.keyAfter)];
}
