/**
 * The process in which SQLite runs: its locks belong to a process, and whoever else opens and closes the file in the
 * same one drops them. It answers one line with one line, and ends when nobody asks any more.
 */
import { createInterface } from "node:readline";
import { SandboxError, describeThrown } from "../../../errors/index.ts";
import { DriftError } from "../engine.ts";
import { answerQuestion } from "./answer-question.ts";
import { loadLibrary } from "./library.ts";
import type { Answer, Question, Thrown } from "./protocol.ts";

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answerTo(line))}\n`);
}

async function answerTo(line: string): Promise<Answer> {
  try {
    const library = await loadLibrary();
    return { value: answerQuestion(library, JSON.parse(line) as Question) };
  } catch (thrown) {
    return { thrown: tell(thrown) };
  }
}

function tell(thrown: unknown): Thrown {
  const isFamily = thrown instanceof SandboxError;
  return {
    message: describeThrown(thrown),
    code: isFamily ? thrown.code : null,
    hint: isFamily ? thrown.hint : null,
    data: isFamily ? thrown.data : null,
    conflicts: thrown instanceof DriftError ? thrown.conflicts : null,
    database: thrown instanceof DriftError ? thrown.database : null,
  };
}
