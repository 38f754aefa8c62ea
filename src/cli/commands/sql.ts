import { DatabaseError } from "../../light.ts";
import type { Sandbox } from "../../index.ts";
import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, memberOf, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { cellsOf } from "../render/cells.ts";
import { renderTable } from "../render/table.ts";
import { readInput } from "../terminal/read-input.ts";
import { usageError } from "../usage-error.ts";

/** Statements that give rows and change nothing; one that does after all is run as a script. */
const QUESTION = beginningWith("select|with|values|explain|table|show|describe");
const WITH = beginningWith("with");

/** What servers say to a query that would change rows, by a function or by a statement inside of it. */
const CHANGES = new Set(["25006", "0A000"]);

const ROWS_OF_ONE = "Rows are shown for a query that stands alone and only looks.";

/** `coffer sql`: runs SQL in the sandbox of a database. */
export async function runSql(call: Call): Promise<ExitCode> {
  const script = await scriptOf(call);
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const { ref } = memberOf(known, call.needed("resource"));
  const sandbox = cofferdam.sandbox(ref);
  const strategy = await cofferdam.strategyFor(ref);
  if (strategy.capabilities?.queries !== true)
    throw usageError(
      `${ref.resourceId} is no database in this plan, it is worked on by ${ref.strategyName}`,
      "A plan has a database as one when it is opened with it: `coffer open NAME -r sqlite:./app.db`.",
    );
  const rows = await withProgress(call, "Asking", rowsOf(sandbox, script, call.signal));
  const names = `"planId": ${JSON.stringify(ref.planId)}, "resourceId": ${JSON.stringify(ref.resourceId)}`;
  if (rows !== null) {
    // As the database wrote them: numbers may be larger than those of JavaScript.
    if (call.json) process.stdout.write(`{${names}, "rows": ${rows}}\n`);
    else call.answer(null, (page) => renderTable(cellsOf(rows), page));
    if (/^\[\s*\]\s*$/.test(rows)) call.tell("No rows.");
    return EXIT.done;
  }
  const work = sandbox.write("script.sql", script, { signal: call.signal });
  const { kind } = await withProgress(call, "Running", work);
  const changed = kind !== "unchanged";
  if (call.json) process.stdout.write(`{${names}, "changed": ${String(changed)}}\n`);
  if (changed) call.tell("Done, in the sandbox only.");
  else if (QUESTION.test(script)) call.tell(`Done; nothing was changed. ${ROWS_OF_ONE}`);
  else call.tell("Done; nothing was changed.");
  const name = quoted(ref.planId);
  call.suggest(
    [`coffer diff ${name} ${quoted(ref.resourceId)}`, "the rows that changed"],
    [`coffer commit ${name}`, "publish it, all or nothing"],
  );
  return EXIT.done;
}

async function scriptOf(call: Call): Promise<string> {
  const [query, file] = [call.text("query"), call.text("file")];
  if (query !== undefined && file !== undefined)
    throw usageError("QUERY and --file exclude each other");
  const script = query ?? (await readInput(file ?? "-"));
  if (script.trim() === "") throw usageError("there is no SQL to run");
  return script;
}

/** The rows of a query as JSON text; null when it is no query. */
async function rowsOf(
  sandbox: Sandbox,
  script: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (!QUESTION.test(script)) return null;
  try {
    return Buffer.from(await sandbox.read(script, { signal })).toString("utf8");
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (isNoQuery(error, script)) return null;
    throw error;
  }
}

/** Whether a read failed because it was given something else: several statements, or one that writes. */
function isNoQuery({ data }: DatabaseError, script: string): boolean {
  if (data.reason !== "failed") return data.reason !== "unreachable";
  // What follows a WITH may be an UPDATE, which a read takes for an error in a query.
  return data.command === null || CHANGES.has(data.sqlState ?? "") || WITH.test(script);
}

/** Any of these words, behind blanks and comments. */
function beginningWith(words: string): RegExp {
  return new RegExp(String.raw`^\s*(?:(?:--[^\n]*\n|\/\*[\s\S]*?\*\/)\s*)*(?:${words})\b`, "i");
}
