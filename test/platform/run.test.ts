import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { OperationTimeoutError } from "../../src/errors/index.ts";
import { OutputLimitError, run } from "../../src/platform/run.ts";
import { tempFolder } from "../support/temp.ts";
import { openPath } from "./folder.ts";

/** Starts a grandchild that ignores every polite signal, tells its number, and waits with it. */
const STUBBORN =
  'trap "" TERM HUP INT; sh -c \'trap "" TERM HUP INT; echo $$ >"$1"; while :; do sleep 1; done\' sh "$1" & wait';

async function appeared(file: string): Promise<number> {
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await pause(5);
  return Number(readFileSync(file, "utf8"));
}

function isAlive(pid: number): boolean {
  return (
    existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  );
}

async function ended(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 200 && isAlive(pid); tries++) await pause(10);
  return !isAlive(pid);
}

test("gives exit code, output and errors as bytes", async () => {
  const result = await run("sh", ["-c", String.raw`printf 'a\377'; printf 'b\0' >&2; exit 3`]);
  expect(result).toEqual({
    exitCode: 3,
    signal: null,
    stdout: Buffer.from("a\xff", "latin1"),
    stderr: Buffer.from("b\0", "latin1"),
  });
});

test("tells the signal that ended a program", async () => {
  expect(await run("sh", ["-c", "kill -USR1 $$"])).toMatchObject({
    exitCode: null,
    signal: "SIGUSR1",
  });
});

test("passes arguments as they are, whatever they look like", async () => {
  const args = ["$(touch x)", "; touch y", "--", "a b", "", "*", "\n"];
  const { stdout } = await run("printf", ["%s|", ...args], { cwd: tempFolder() });
  expect(stdout.toString()).toBe(args.map((one) => `${one}|`).join(""));
});

test("gives programs a bare environment and what the caller adds", async () => {
  process.env["COFFERDAM_SECRET"] = "secret";
  onTestFinished(() => void delete process.env["COFFERDAM_SECRET"]);
  const { stdout } = await run("env", [], { env: { EXTRA: "1", LANG: "C" } });
  // Node itself passes the folder for coverage on to every child.
  const own = stdout.toString().replace(/^NODE_V8_COVERAGE=.*\n/m, "");
  const lines = own.trim().split("\n").sort();
  expect(lines.map((line) => line.split("=")[0])).toEqual(["EXTRA", "HOME", "LANG", "PATH"]);
  expect(lines).toContain("LANG=C");
});

test("feeds the input, and does not mind a program that leaves it unread", async () => {
  const input = Buffer.alloc(1_000_000, 7);
  const [read, ignored] = await Promise.all([
    run("wc", ["-c"], { input }),
    run("true", [], { input }),
  ]);
  expect([read.stdout.toString().trim(), ignored.exitCode]).toEqual(["1000000", 0]);
  expect((await run("cat", [])).stdout).toEqual(Buffer.alloc(0));
});

test("starts in a folder whose name is any bytes, and passes open files on", async () => {
  const parent = tempFolder();
  const path = Buffer.from(join(parent, "caf\xe9"), "latin1");
  mkdirSync(path);
  const { fd } = openPath(path);
  writeFileSync(Buffer.concat([path, Buffer.from("/file")]), "inside");
  const here = await run("pwd", [], { cwd: `/proc/self/fd/${fd}` });
  expect(here.stdout).toEqual(Buffer.concat([path, Buffer.from("\n")]));
  const passed = await run("cat", ["/proc/self/fd/3/file"], { descriptors: [fd] });
  expect(passed.stdout.toString()).toBe("inside");
});

test("kills the whole group of a program that hangs, and says that it is gone", async () => {
  const file = join(tempFolder(), "pid");
  const running = run("sh", ["-c", STUBBORN, "sh", file], { timeoutMs: 1_000 });
  const outcome = running.catch((error: unknown) => error);
  const grandchild = await appeared(file);
  const error = await outcome;
  expect(error).toBeInstanceOf(OperationTimeoutError);
  expect(error).toMatchObject({
    code: "OPERATION_TIMEOUT",
    data: { limitMs: 1_000, childEnded: true },
  });
  expect(await ended(grandchild)).toBe(true);
});

test("says so when a process that left the group outlives the limit", async () => {
  const file = join(tempFolder(), "pid");
  const script = 'setsid sh -c \'echo $$ >"$1"; exec sleep 600\' sh "$1" & wait';
  const outcome = run("sh", ["-c", script, "sh", file], { timeoutMs: 500 }).catch(
    (error: unknown) => error,
  );
  const runaway = await appeared(file);
  onTestFinished(() => void process.kill(runaway, "SIGKILL"));
  expect(await outcome).toMatchObject({
    code: "OPERATION_TIMEOUT",
    data: { limitMs: 500, childEnded: false },
  });
  expect(isAlive(runaway)).toBe(true);
});

test("ends what a program leaves in its group when it ends by itself", async () => {
  const file = join(tempFolder(), "pid");
  const script =
    'sh -c \'echo $$ >"$1"; exec sleep 600\' sh "$1" >/dev/null 2>&1 & while [ ! -s "$1" ]; do sleep 0.01; done';
  expect(await run("sh", ["-c", script, "sh", file])).toMatchObject({ exitCode: 0 });
  expect(await ended(await appeared(file))).toBe(true);
});

test("kills a program whose output exceeds the limit", async () => {
  const outcome = await run("yes", [], { maxOutputBytes: 100_000 }).catch(
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(OutputLimitError);
  expect(outcome).toMatchObject({ code: "OUTPUT_LIMIT", maxOutputBytes: 100_000 });
  const enough = await run("head", ["-c", "100000", "/dev/zero"], { maxOutputBytes: 100_000 });
  expect(enough.stdout).toHaveLength(100_000);
});

test("kills the group and gives the reason when the caller's signal fires", async () => {
  const file = join(tempFolder(), "pid");
  const controller = new AbortController();
  const outcome = run("sh", ["-c", STUBBORN, "sh", file], { signal: controller.signal }).catch(
    (error: unknown) => error,
  );
  const grandchild = await appeared(file);
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await outcome).toBe(reason);
  expect(await ended(grandchild)).toBe(true);
});

test("starts nothing when the signal has fired already", async () => {
  const file = join(tempFolder(), "made");
  const reason = new Error("too late");
  await expect(run("touch", [file], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(existsSync(file)).toBe(false);
});

test("gives Node's error for a program that is not there or may not run", async () => {
  await expect(run("no-such-program", [], { env: { PATH: tempFolder() } })).rejects.toMatchObject({
    code: "ENOENT",
  });
  const file = join(tempFolder(), "plain");
  writeFileSync(file, "", { mode: 0o644 });
  await expect(run(file, [])).rejects.toMatchObject({ code: "EACCES" });
});

test("does not kill a daemon that properly left for a session of its own", async () => {
  const file = join(tempFolder(), "pid");
  const script =
    'setsid sh -c \'echo $$ >"$1"; exec sleep 600\' sh "$1" >/dev/null 2>&1 & while [ ! -s "$1" ]; do sleep 0.01; done';
  expect(await run("sh", ["-c", script, "sh", file])).toMatchObject({ exitCode: 0 });
  const daemon = await appeared(file);
  onTestFinished(() => void process.kill(daemon, "SIGKILL"));
  expect(execFileSync("ps", ["-o", "stat=", "-p", String(daemon)]).toString()).toMatch(/^S/);
});
