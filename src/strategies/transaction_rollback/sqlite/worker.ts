/**
 * The process in which SQLite runs: its locks belong to a process, and whoever else opens and closes the file in the
 * same one drops them. It answers one line with one line, holds nothing between two of them, and ends when nobody asks
 * any more.
 */
import { createInterface } from "node:readline";
import { SandboxError, describeThrown } from "../../../errors/index.ts";
import { DriftError } from "../engine.ts";
import { answerQuestion } from "./answer-question.ts";
import { letGo } from "./let-go.ts";
import { loadLibrary } from "./library.ts";
import { type Answer, type Question, type Requests, type Thrown, lineOf } from "./protocol.ts";

/** A commit that may come, as long as it has not. */
let open: Requests["open"][0] | null = null;

// Nobody may be left to hear the answer; what is under way is finished all the same.
process.stdout.on("error", () => undefined);
void answerAll();

async function answerAll(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await answerTo(line);
    // One that has announced a commit serves nobody else: its end takes the announcement back.
    const isLast = !(await letGo()) || open !== null;
    process.stdout.write(lineOf({ ...answer, isLast } satisfies Answer));
  }
  // Whoever asked may be dead, and recovered before this was written: nobody else would look for it again.
  if (open !== null) await answerTo(JSON.stringify({ kind: "withdraw", about: open }));
}

async function answerTo(line: string): Promise<{ value: unknown } | { thrown: Thrown }> {
  try {
    const library = await loadLibrary();
    const question = JSON.parse(line) as Question;
    const value = await answerQuestion(library, question);
    if (isAbout("open", question)) open = question.about;
    if (isAbout("commit", question)) open = null;
    return { value };
  } catch (thrown) {
    return { thrown: tell(thrown) };
  }
}

function isAbout<Kind extends keyof Requests>(
  kind: Kind,
  question: Question,
): question is Question<Kind> {
  return question.kind === kind;
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
