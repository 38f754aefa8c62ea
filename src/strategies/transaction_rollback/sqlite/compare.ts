import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describeThrown } from "../../../errors/index.ts";
import { DriftError, type RecordedStatements } from "../engine.ts";
import { changeSchema, finishSchema } from "./compare-schema.ts";
import { rowDifferences } from "./compare-rows.ts";
import { isDamage } from "./codes.ts";
import { rollBack } from "./decisions.ts";
import type { Library } from "./library.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { openFile } from "./open-file.ts";
import { orderEffects } from "./order-effects.ts";
import type { Requests } from "./protocol.ts";
import { lastNumbers } from "./sequences.ts";
import type { Session } from "./session.ts";

/** The name under which the later one is attached to the earlier one. */
const AFTER = "after";
/** Stands in the log in the place of statements that nobody saw. */
const TEXT = "-- rows that a command changed";

/**
 * What makes one copy of a database the other, as statements and rows that a log can repeat. It is found by doing it to
 * the earlier one, in a transaction that is rolled back.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function compareDatabases(
  library: Library,
  { before, after, foreignKeys }: Requests["compare"][0],
): RecordedStatements {
  requireFiles(after);
  using session = openFile(library, { path: before, foreignKeys, identity: null });
  try {
    session.attach(after, AFTER);
    session.exec("BEGIN IMMEDIATE");
    return compare(session);
  } catch (thrown) {
    if (thrown instanceof DriftError || isDamage(thrown))
      throw notCaptured(describeThrown(thrown), thrown);
    throw thrown;
  } finally {
    rollBack(session);
  }
}

function compare(session: Session): RecordedStatements {
  session.exec("PRAGMA defer_foreign_keys = ON");
  const begun = changeSchema(session, AFTER);
  const effects = orderEffects(session, rowDifferences(session, AFTER));
  const finished = finishSchema(session, AFTER);
  const rows = effects.length === 0 ? [] : [{ text: TEXT, kind: "rows", effects } as const];
  const numbers = lastNumbers(session, "main");
  const moved = [...lastNumbers(session, AFTER)].filter(
    ([name, last]) => numbers.get(name) !== last,
  );
  return { statements: [...begun, ...rows, ...finished], sequences: Object.fromEntries(moved) };
}

/** A program may have put links in the place of the files, which would lead elsewhere now. */
function requireFiles(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  const names = readdirSync(folder).filter((one) => one.startsWith(name));
  if (!names.includes(name)) throw notCaptured("the database was removed");
  const wrong = names.find((one) => {
    const found = lstatSync(join(folder, one));
    return !found.isFile() || found.nlink > 1;
  });
  if (wrong !== undefined) throw notCaptured(`${wrong} is not a plain file any more`);
}
