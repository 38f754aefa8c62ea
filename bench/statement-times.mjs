import { PromiseConnection } from "mysql2/promise.js";
import { Client } from "pg";

const statements = [];
/** The statements with which a transaction begins its first phase: until then its log is being applied. */
const FIRST_PHASE = /^(PREPARE TRANSACTION|XA END)\b/;
/** The statements with which it ends its second one: from then on everybody sees it. */
const SECOND_PHASE = /^(COMMIT PREPARED|XA COMMIT)\b/;

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
 * How long some work that commits in two phases applied its log, from its first statement to the last answer before the
 * first phase, and how long it took from there until the second phase had ended. Null where there were no such phases.
 */
export async function phasesIn(work) {
  statements.length = 0;
  await work();
  const first = statements.findIndex(({ text }) => FIRST_PHASE.test(text));
  const second = statements.find(({ text }) => SECOND_PHASE.test(text));
  if (first < 1 || second === undefined) return null;
  const applied = statements[first - 1].end;
  return { applying: applied - statements[0].start, phases: second.end - applied };
}
