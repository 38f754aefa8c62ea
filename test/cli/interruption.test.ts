import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { answerOf } from "./answers.ts";
import { type Home, coffer, node, program } from "./coffer.ts";
import { homeWithOddStrategies } from "./odd-strategies.ts";

/** A commit that waits in its first phase until it is let go. */
interface WaitingCommit {
  readonly home: Home;
  readonly child: ChildProcess;
  /** Everything that it says, once it has ended. */
  readonly said: Promise<string>;
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>;
  letGo(): void;
}

async function waitingCommit(
  command: (line: readonly string[]) => readonly string[],
): Promise<WaitingCommit> {
  const home = homeWithOddStrategies({ "data/file": "old\n" });
  const marker = join(home.folder, "waiting");
  answerOf(home, ["open", "try", "-r", "waiting+dir:./data"]);
  const { path } = answerOf(home, ["path", "try"]) as { path: string };
  writeFileSync(join(path, "file"), "new\n");
  const [file = "", ...args] = command([node, program, "commit", "try"]);
  const env = { ...home.env, WAITING_AT: marker, TERM: "xterm" };
  const child = spawn(file, args, { cwd: home.project, env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined);
  const said = Promise.all([text(child.stdout), text(child.stderr)]).then((all) => all.join(""));
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  while (!existsSync(marker)) await setTimeout(10);
  return { home, child, said, ended, letGo: () => rmSync(marker) };
}

test("Ctrl-C stops a commit in order: nothing is published, the edits are kept, and it says so", async () => {
  const inTerminal = (line: readonly string[]): string[] => [
    "script",
    "-qec",
    `exec ${line.join(" ")}`,
    "/dev/null",
  ];
  const { home, child, said, ended, letGo } = await waitingCommit(inTerminal);
  child.stdin?.write("\u0003");
  await setTimeout(500);
  letGo();
  expect({ ended: await ended, said: await said }).toEqual({
    ended: [5, null],
    said: expect.stringMatching(
      /coffer: stopping in order[^]*The plan try is open\.\r\n/,
    ) as string,
  });
  expect(readFileSync(join(home.project, "data/file"), "utf8")).toBe("old\n");
  expect(answerOf(home, ["status", "try"])).toMatchObject({ state: "open" });
  expect(answerOf(home, ["diff", "try"])).toMatchObject({
    sandboxes: [{ changes: [{ path: "file", kind: "modified" }] }],
  });
});

test("says that the plan is busy while it is at work, ends at once at the second signal, and is recovered", async () => {
  const { home, child, ended, letGo } = await waitingCommit((line) => line);
  expect(answerOf(home, ["checkpoint", "try"], 8)).toMatchObject({
    error: { code: "PLAN_BUSY", data: { holder: { pid: child.pid } } },
  });
  child.kill("SIGINT");
  await setTimeout(200);
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  letGo();
  expect(answerOf(home, ["recover", "--list"])).toMatchObject({
    transactions: [expect.any(String)],
    sandboxes: [{ status: "COMMITTING" }],
  });
  expect(coffer(home, ["status", "try"]).stderr).toContain("coffer recover");
  expect(answerOf(home, ["recover"])).toMatchObject({
    transactions: [{ outcome: "aborted", error: null }],
    complete: true,
  });
  expect(readFileSync(join(home.project, "data/file"), "utf8")).toBe("old\n");
  expect(answerOf(home, ["recover", "--list"])).toEqual({
    ...{ transactions: [], sandboxes: [], damaged: [] },
  });
});
