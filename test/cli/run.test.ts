import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome, node, program, run } from "./coffer.ts";
import { KEYS, startInTerminal } from "./pseudo-terminal.ts";

const EDIT = "echo new > file.txt; echo more > made.txt";

function fileOf({ project }: Home): string {
  return readFileSync(join(project, "file.txt"), "utf8");
}

it("run keeps the plan when nobody can be asked, and ends with the code of the command", () => {
  const home = makeHome();
  const done = coffer(home, ["run", "--", "sh", "-c", `${EDIT}; echo said; exit 7`]);
  expect(done).toMatchObject({ code: 7, stdout: "said\n" });
  expect(done.stderr).toContain("1 added, 1 modified");
  expect(done.stderr).toContain("coffer commit run-1");
  expect(fileOf(home)).toBe("text\n");
  const { stdout } = coffer(home, ["exec", "run-1", "--", "cat", "file.txt"]);
  expect(stdout).toBe("new\n");
});

it("run --commit publishes what a command that succeeded did, and rollback takes it back", () => {
  const home = makeHome();
  expect(coffer(home, ["run", "--commit", "-p", "up", "--", "sh", "-c", EDIT]).code).toBe(0);
  expect([fileOf(home), existsSync(join(home.project, "made.txt"))]).toEqual(["new\n", true]);
  expect(coffer(home, ["rollback", "up"]).code).toBe(0);
  expect(readdirSync(home.project)).toEqual(["file.txt"]);
  expect(fileOf(home)).toBe("text\n");
});

it("run --commit keeps the plan of a command that failed", () => {
  const home = makeHome();
  const done = coffer(home, ["run", "--commit", "-p", "up", "--", "sh", "-c", `${EDIT}; exit 3`]);
  expect(done.code).toBe(3);
  expect(fileOf(home)).toBe("text\n");
  expect(coffer(home, ["status", "up", "--json"]).stdout).toContain('"state": "open"');
});

it("run --discard and a run without changes leave nothing", () => {
  const home = makeHome();
  expect(coffer(home, ["run", "--discard", "--", "sh", "-c", EDIT]).code).toBe(0);
  expect(coffer(home, ["run", "--", "true"]).code).toBe(0);
  expect(JSON.parse(coffer(home, ["list", "--json"]).stdout)).toEqual([]);
  expect(fileOf(home)).toBe("text\n");
});

it("run --json prints one value, and what the command says goes elsewhere", () => {
  const home = makeHome();
  const args = ["run", "--json", "-p", "up", "--", "sh", "-c", `${EDIT}; echo said; touch ~/out`];
  const { stdout, stderr } = coffer(home, args);
  expect(stderr).toBe("said\n");
  const told = JSON.parse(stdout) as Record<string, unknown>;
  expect(Object.keys(told)).toEqual([
    "planId",
    "exitCode",
    "fixed",
    "unchangeable",
    "enclosed",
    "outside",
    "unreached",
    "surroundings",
    "ending",
    "digest",
    "report",
  ]);
  expect(told).toMatchObject({ planId: "up", exitCode: 0, ending: "kept", report: null });
  expect(told["outside"]).toMatchObject({ counts: { added: 1 } });
});

it.each([
  ["no command", ["run"]],
  ["two answers", ["run", "--commit", "--discard", "--", "true"]],
  ["an unknown way", ["run", "--outside", "sideways", "--", "true"]],
  ["no command for exec", ["exec", "plan", "--"]],
])("a call with %s is told to be wrong", (_, args) => {
  expect(coffer(makeHome(), args).code).toBe(2);
});

it("exec and shell in a plan that is not there end with the code for that", () => {
  const home = makeHome();
  expect(coffer(home, ["exec", "nope", "--", "true"]).code).toBe(7);
  expect(coffer(home, ["shell", "nope"]).code).toBe(7);
});

it("what the command did outside is named after the run", () => {
  const home = makeHome();
  const done = coffer(home, [
    "run",
    "--discard",
    "--",
    "sh",
    "-c",
    "mkdir ~/.x; touch ~/.x/1 ~/.x/2",
  ]);
  expect(done.stderr).toContain("2 files outside the plan were discarded (2 added):\n  ~/.x/  2\n");
  const real = coffer(home, ["run", "--discard", "--outside", "allow", "--", "touch", "../real"]);
  expect([real.code, existsSync(join(home.folder, "real"))]).toEqual([0, true]);
});

it("in a terminal run asks, shows the review, and commits exactly what it showed", async () => {
  const home = makeHome();
  const terminal = startInTerminal(home, ["run", "-p", "up", "--", "sh", "-c", EDIT], {
    env: { PAGER: "cat" },
  });
  await terminal.sees("iscard? ");
  terminal.type("x\n");
  await terminal.sees("Answer with c, r, k, d");
  terminal.type("r\n");
  await terminal.sees("+new");
  terminal.type("c\n");
  expect(await terminal.ended()).toBe(0);
  expect(terminal.shown()).toContain("Committed as the plan up.");
  expect(fileOf(home)).toBe("new\n");
});

it.each([
  ["d\n", 0],
  ["k\n", 1],
  [KEYS.interrupt, 1],
  [KEYS.endOfInput, 1],
])("the answer %j discards or keeps the plan", async (answer, plans) => {
  const home = makeHome();
  const terminal = startInTerminal(home, ["run", "--", "sh", "-c", EDIT]);
  await terminal.sees("iscard? ");
  terminal.type(answer);
  expect(await terminal.ended()).toBe(0);
  expect(JSON.parse(coffer(home, ["list", "--json"]).stdout)).toHaveLength(plans);
  expect(fileOf(home)).toBe("text\n");
});

it("Ctrl-C goes to the command, and its plan is there afterwards", async () => {
  const home = makeHome();
  const script = `${EDIT}; trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.1; done`;
  const terminal = startInTerminal(home, ["run", "--keep", "-p", "up", "--", "sh", "-c", script]);
  await terminal.sees("ready");
  terminal.type(KEYS.interrupt);
  expect(await terminal.ended()).toBe(5);
  expect(terminal.shown()).toContain("caught");
  expect(terminal.shown()).toContain("Kept as the plan up");
});

it("a second Ctrl-C ends a command that does not listen", async () => {
  const home = makeHome();
  const script = "trap '' INT; echo ready; while :; do sleep 0.1; done";
  const terminal = startInTerminal(home, ["run", "--keep", "--", "sh", "-c", script]);
  await terminal.sees("ready");
  terminal.type(KEYS.interrupt);
  await pause(300);
  terminal.type(KEYS.interrupt);
  expect(await terminal.ended()).toBe(137);
});

it("a shell in a plan has a marked prompt and job control", async () => {
  const home = makeHome();
  coffer(home, ["open", "up", "-r", "."]);
  const terminal = startInTerminal(home, ["shell", "up"], { env: { SHELL: "/bin/bash" } });
  await terminal.sees("(coffer up)");
  terminal.type("sleep 1000 &\n");
  terminal.type("jobs; tty; echo new > file.txt\n");
  await terminal.sees("Running");
  await terminal.sees("/dev/pts/");
  terminal.type("exit 6\n");
  expect(await terminal.ended()).toBe(6);
  expect(coffer(home, ["diff", "up", "--name-only"]).stdout).toBe("file.txt\n");
});

it("SIGTERM is handed on to the command", async () => {
  const home = makeHome();
  const script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done";
  const child = spawn(node, [program, "run", "--keep", "--", "sh", "-c", script], {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const code = new Promise((resolve) => void child.on("close", resolve));
  await new Promise((resolve) => void child.stdout.once("data", resolve));
  child.kill("SIGTERM");
  expect(await code).toBe(9);
});

it("a run that is killed leaves no process, and its edits are in the plan", async () => {
  const home = makeHome();
  const mark = `86398.${process.pid}`;
  const script = `${EDIT}; echo ready; sleep ${mark}`;
  const child = spawn(node, [program, "run", "-p", "up", "--", "sh", "-c", script], {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => void child.stdout.once("data", resolve));
  const busy = coffer(home, ["commit", "up"]);
  expect(busy.code).toBe(8);
  child.kill("SIGKILL");
  const isThere = (): boolean => run(home, "ps", ["-eo", "args"]).stdout.includes(`sleep ${mark}`);
  for (let waited = 0; waited < 200 && isThere(); waited += 1) await pause(25);
  expect(isThere()).toBe(false);
  expect(coffer(home, ["commit", "up"]).code).toBe(0);
  expect(fileOf(home)).toBe("new\n");
  expect(readdirSync(join(home.stateDirectory, "runs"))).toEqual([]);
});

it("of a run that is killed and would have been discarded, nobody keeps anything", async () => {
  const home = makeHome();
  const script = `${EDIT}; echo ready; sleep 60`;
  const child = spawn(node, [program, "run", "-p", "up", "--discard", "--", "sh", "-c", script], {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => void child.stdout.once("data", resolve));
  const ended = new Promise((resolve) => void child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
  {
    await using cofferdam = await openCofferdam({ ...home, config: false });
    const { abandoned } = await cofferdam.cleanupAbandoned({ idleMs: 0 });
    expect(abandoned).toMatchObject([{ planId: "up" }]);
  }
  expect(answerOf(home, ["list"])).toEqual([]);
  expect(fileOf(home)).toBe("text\n");
});
