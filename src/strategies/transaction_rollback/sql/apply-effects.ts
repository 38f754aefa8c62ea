import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { type EffectRun, type KeyedTable, type RowStore, keyText, kindOf } from "./row-store.ts";

/**
 * Applies effects. Within one statement a server may check keys at the end only, so that parents and children come in any
 * order; here a row whose turn has not come yet is tried again after the others, and later effects on it wait for it. Gives
 * the runs in an order that works, and whether there were no futile tries.
 */
export async function applyEffects<T extends KeyedTable>(
  store: RowStore<T>,
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
): Promise<{ readonly order: readonly EffectRun<T>[]; readonly isStraight: boolean }> {
  const order: EffectRun<T>[] = [];
  let isStraight = true;
  let waiting: readonly EffectRun<T>[] = [...runsOf(tables, effects)];
  while (waiting.length > 0) {
    const round = new Round(store);
    for (const run of waiting) await round.apply(run);
    if (round.applied.length === 0) throw round.failure;
    order.push(...round.applied);
    isStraight &&= round.failure === null;
    waiting = round.waiting;
  }
  return { order, isStraight };
}

/** One look at all effects that wait. */
class Round<T extends KeyedTable> {
  readonly waiting: EffectRun<T>[] = [];
  readonly applied: EffectRun<T>[] = [];
  failure: unknown = null;
  readonly #store: RowStore<T>;
  readonly #blocked = new Set<string>();

  constructor(store: RowStore<T>) {
    this.#store = store;
  }

  async apply(run: EffectRun<T>): Promise<void> {
    const { table, effects } = run;
    const names = effects.flatMap((effect) => rowNames(table, effect));
    if (names.some((name) => this.#blocked.has(name))) return this.#oneByOne(run, names);
    const failure = await this.#store.tryRun(run);
    if (failure === null) {
      this.applied.push(run);
      return;
    }
    this.failure ??= failure;
    await this.#oneByOne(run, names);
  }

  async #oneByOne(run: EffectRun<T>, names: readonly string[]): Promise<void> {
    if (run.effects.length > 1) {
      for (const effect of run.effects) await this.apply({ ...run, effects: [effect] });
      return;
    }
    this.waiting.push(run);
    for (const name of names) this.#blocked.add(name);
  }
}

/** Rows of a table without a key cannot be told apart, so that they all wait for each other. */
function rowNames(
  { name, key }: KeyedTable,
  { keyBefore, keyAfter }: RowEffect,
): readonly string[] {
  if (key.length === 0) return [name];
  const keys = [keyText(keyBefore), keyText(keyAfter)].filter((text) => text !== null);
  return keys.map((text) => `${name} ${text}`);
}

/** Effects of one kind on different rows of one table are applied together. */
function* runsOf<T extends KeyedTable>(
  tables: ReadonlyMap<string, T>,
  effects: readonly RowEffect[],
): Generator<EffectRun<T>> {
  let run: { table: T; kind: EffectRun<T>["kind"]; effects: RowEffect[] } | null = null;
  let seen = new Set<string>();
  for (const effect of effects) {
    const [table, kind] = [tables.get(tablePath(effect)), kindOf(effect)];
    if (table === undefined) continue;
    const names = rowNames(table, effect);
    const isNew = table.key.length === 0 || names.every((name) => !seen.has(name));
    if (run !== null && run.table === table && run.kind === kind && isNew) {
      run.effects.push(effect);
    } else {
      if (run !== null) yield run;
      run = { table, kind, effects: [effect] };
      seen = new Set();
    }
    for (const name of names) seen.add(name);
  }
  if (run !== null) yield run;
}
