import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { type EffectRun, applyRun, applyToEqualRow, kindOf } from "./row-statements.ts";
import { type Session, sqlStateOf } from "./session.ts";
import type { Table } from "./tables.ts";

/** Unique and foreign keys: what one row violates, the next one may put right. */
const PASSING = new Set(["23505", "23503"]);

/**
 * Applies effects. Within one statement the server checks keys at the end only, so that parents and children come in any
 * order; here a row whose turn has not come yet is tried again after the others, and later effects on it wait for it. Gives
 * the runs in an order that works, and whether there were futile tries, which the server counts.
 */
export async function applyEffects(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): Promise<{ readonly order: readonly EffectRun[]; readonly isStraight: boolean }> {
  const order: EffectRun[] = [];
  let isStraight = true;
  let waiting: readonly EffectRun[] = [...runsOf(tables, effects)];
  while (waiting.length > 0) {
    const round = new Round(session);
    for (const run of waiting) await round.apply(run);
    if (round.applied.length === 0) throw round.failure;
    order.push(...round.applied);
    isStraight &&= round.failure === null;
    waiting = round.waiting;
  }
  return { order, isStraight };
}

/** One look at all effects that wait. */
class Round {
  readonly waiting: EffectRun[] = [];
  readonly applied: EffectRun[] = [];
  failure: unknown = null;
  readonly #session: Session;
  readonly #blocked = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  async apply(run: EffectRun): Promise<void> {
    const { table, kind, effects } = run;
    const names = effects.flatMap((effect) => rowNames(table, effect));
    if (names.some((name) => this.#blocked.has(name))) {
      if (effects.length === 1) this.#wait(run, names);
      else for (const effect of effects) await this.apply({ table, kind, effects: [effect] });
      return;
    }
    await this.#session.run("SAVEPOINT cofferdam_run");
    try {
      await applyOne(this.#session, run);
    } catch (thrown) {
      if (!PASSING.has(sqlStateOf(thrown) ?? "")) throw thrown;
      await this.#session.run("ROLLBACK TO SAVEPOINT cofferdam_run");
      this.failure ??= thrown;
      if (effects.length > 1) {
        for (const effect of effects) await this.apply({ table, kind, effects: [effect] });
        return;
      }
      this.#wait(run, names);
      return;
    }
    await this.#session.run("RELEASE SAVEPOINT cofferdam_run");
    this.applied.push(run);
  }

  #wait(run: EffectRun, names: readonly string[]): void {
    this.waiting.push(run);
    for (const name of names) this.#blocked.add(name);
  }
}

/** Applies one run. */
export async function applyOne(session: Session, run: EffectRun): Promise<void> {
  const { table, kind, effects } = run;
  if (table.key.length > 0 || kind === "insert") await applyRun(session, run);
  else for (const effect of effects) await applyToEqualRow(session, table, effect);
}

/** Rows of a table without a key cannot be told apart, so that they all wait for each other. */
function rowNames({ name, key }: Table, { keyBefore, keyAfter }: RowEffect): readonly string[] {
  if (key.length === 0) return [name];
  const keys = [keyText(keyBefore), keyText(keyAfter)].filter((text) => text !== null);
  return keys.map((text) => `${name} ${text}`);
}

/** Effects of one kind on different rows of one table are applied together. */
function* runsOf(
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): Generator<EffectRun> {
  let run: { table: Table; kind: EffectRun["kind"]; effects: RowEffect[] } | null = null;
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

/** A key as one text. */
export function keyText(key: readonly string[] | null): string | null {
  return key === null ? null : JSON.stringify(key);
}
