import { pageFor } from "../call.ts";

/** What becomes of a plan after a run. */
export type Choice = "commit" | "review" | "keep" | "discard";

const BY_LETTER: Readonly<Record<string, Choice>> = {
  c: "commit",
  r: "review",
  k: "keep",
  d: "discard",
};

/** Whether somebody is there to be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks what is to become of the plan; whoever answers with the end of input or Ctrl-C keeps it. */
export async function askChoice(): Promise<Choice> {
  const { createInterface } = await import("node:readline/promises");
  const { style } = pageFor(process.stderr);
  const letter = (text: string): string => `${style.bold(text.slice(0, 1))}${text.slice(1)}`;
  const question = `${Object.values(BY_LETTER).map(letter).join(", ")}? `;
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: question });
  lines.on("SIGINT", () => lines.close());
  try {
    lines.prompt();
    for await (const line of lines) {
      const answer = line.trim().toLowerCase();
      const choice = BY_LETTER[answer] ?? Object.values(BY_LETTER).find((one) => one === answer);
      if (choice !== undefined) return choice;
      process.stderr.write(`Answer with ${Object.keys(BY_LETTER).join(", ")} or the whole word.\n`);
      lines.prompt();
    }
    process.stderr.write("\n");
    return "keep";
  } finally {
    lines.close();
  }
}
