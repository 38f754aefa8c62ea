import { PromiseConnection } from "mysql2/promise.js";
import { Client } from "pg";

const statements = [];
/** The statements with which a transaction begins its first phase: until then its log is being applied. */
const FIRST_PHASE = /^(PREPARE TRANSACTION|XA END)\b/;

function note(prototype) {
  const original = prototype.query;
  prototype.query = function query(given, ...rest) {
    const text = typeof given === "string" ? given : given.text;
    const statement = { text, start: performance.now(), end: Infinity };
    statements.push(statement);
    const answer = original.call(this, given, ...rest);
    const ended = () => {
      statement.end = performance.now();
    };
    answer?.then?.(ended, ended);
    return answer;
  };
}

/** From here on every statement that this process sends to a server is noted. */
export function noteStatements() {
  for (const { prototype } of [Client, PromiseConnection]) note(prototype);
}

/**
 * How long the log was being applied while some work committed it in two phases: from its first statement to the last
 * answer before the first phase. Null where there was no such phase.
 */
export async function applyingIn(work) {
  statements.length = 0;
  await work();
  const until = statements.findIndex(({ text }) => FIRST_PHASE.test(text));
  return until < 1 ? null : statements[until - 1].end - statements[0].start;
}
