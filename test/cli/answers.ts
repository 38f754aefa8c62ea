import { expect } from "vitest";
import { coffer, type Home } from "./coffer.ts";

/** Runs a command with `--json` and gives its one value; fails unless it ends with the code and says nothing else. */
export function answerOf(home: Home, args: readonly string[], code = 0): unknown {
  const done = coffer(home, [...args, "--json"]);
  const expected = { args, code, stderr: "", stdout: expect.stringMatching(/\S/) as string };
  expect({ args, ...done }).toMatchObject(expected);
  return JSON.parse(done.stdout);
}
