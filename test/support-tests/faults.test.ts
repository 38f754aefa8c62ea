import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import {
  faultPoints,
  runUntil,
  runWithFault,
  runWithout,
  type TracedProgram,
} from "../support/faults.ts";
import { ordinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

function traced(name: string, folder: string): TracedProgram {
  const program = new URL(`./programs/${name}.ts`, import.meta.url);
  return { program, args: [folder, "one"], touching: [folder] };
}

it("lists the calls that change something in a folder, and what they change", async () => {
  const folder = tempFolder();
  const points = await faultPoints(traced("say", folder));
  const draft = join(folder, "made/draft");
  expect(points).toEqual([
    {
      at: 1,
      call: "mkdir",
      paths: [join(folder, "made")],
      mainThread: true,
      creates: false,
      inChild: false,
    },
    { at: 2, call: "openat", paths: [draft], mainThread: true, creates: true, inChild: false },
    { at: 3, call: "write", paths: [draft], mainThread: true, creates: false, inChild: false },
    {
      at: 4,
      call: "rename",
      paths: [draft, join(folder, "made/final")],
      mainThread: true,
      creates: false,
      inChild: false,
    },
  ]);
});

it("sees what is changed by the descriptor of a folder", async () => {
  const folder = tempFolder();
  const points = await faultPoints(traced("rename-by-descriptor", folder));
  expect(points.map(({ call, paths }) => [call, ...paths])).toEqual([
    ["mkdir", join(folder, "old")],
    ["rename", join(folder, "old"), join(folder, "new")],
  ]);
});

it("sees the same calls as strace", async () => {
  const points = await faultPoints(traced("many-calls", tempFolder()));
  const [folder, log] = [tempFolder(), join(tempFolder(), "log")];
  const { program, args } = traced("many-calls", folder);
  await runChild(program, args, { wrapper: ["strace", "-f", "-y", "-o", log] });
  const looking =
    /^\d+ +(stat|lstat|newfstatat|statx|readlink|access|fstat|read|pread64|close|chdir|getcwd|execve|lseek|fadvise64)\(/;
  const lines = readFileSync(log, "latin1")
    .split("\n")
    .filter((line) => line.includes(folder) && !looking.test(line) && !line.includes("O_RDONLY"))
    .filter((line) => !line.includes("openat") || /O_(CREAT|TRUNC)/.test(line));
  expect(points.map(({ call }) => call)).toEqual(lines.map((line) => /\w+(?=\()/.exec(line)?.[0]));
  expect(new Set(points.map(({ call }) => call)).size).toBeGreaterThan(15);
});

it("kills the program before the call", async () => {
  const reached: string[][] = [];
  for (const at of [1, 2, 3, 4]) {
    const folder = tempFolder();
    const run = await runWithFault(traced("say", folder), { at }, { signal: "KILL" });
    expect(run).toMatchObject({ fired: true, signal: "SIGKILL" });
    reached.push(readdirSync(folder, { recursive: true }).map(String).toSorted());
  }
  expect(reached).toEqual([[], ["made"], ["made", "made/draft"], ["made", "made/draft"]]);
});

it("lets one call fail with the error that was asked for", async () => {
  const folder = tempFolder();
  const run = await runWithFault(traced("say", folder), { at: 4 }, { error: "ENOSPC" });
  expect(run).toMatchObject({ fired: true, code: 1 });
  expect(run.stderr).toContain("ENOSPC");
  expect(existsSync(join(folder, "made/draft"))).toBe(true);
});

it("lets every call from one on fail", async () => {
  const fault = { error: "EROFS", lasting: true } as const;
  const run = await runWithFault(traced("stubborn", tempFolder()), { at: 2 }, fault);
  expect(run).toMatchObject({ fired: true, stdout: "ok EROFS EROFS" });
});

it("lets one call seem to succeed that is not done", async () => {
  const folder = tempFolder();
  const run = await runWithFault(traced("say", folder), { at: 4 }, { pretends: "success" });
  expect(run).toMatchObject({ fired: true, code: 0 });
  expect(existsSync(join(folder, "made/final"))).toBe(false);
});

it("says so when the point was not reached", async () => {
  const run = await runWithFault(traced("say", tempFolder()), { at: 5 }, { signal: "KILL" });
  expect(run).toMatchObject({ fired: false, code: 0 });
});

it("works for a user without privilege", async () => {
  const user = ordinaryUser();
  const owned = { ...traced("say", user.home), options: { uid: user.uid, env: user.env } };
  const run = await runWithFault(owned, { at: 4 }, { signal: "KILL" });
  expect(run).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(existsSync(join(user.home, "made/draft"))).toBe(true);
});

it("stops the program after a call, and lets it go on", async () => {
  const folder = tempFolder();
  const run = await runUntil(traced("say", folder), { at: 1 });
  expect(readdirSync(folder, { recursive: true })).toEqual(["made"]);
  run?.goOn();
  expect(await run?.result).toMatchObject({ fired: true, code: 0 });
  expect(existsSync(join(folder, "made/final"))).toBe(true);
});

it("can end a program that it has stopped", async () => {
  const folder = tempFolder();
  const run = await runUntil(traced("say", folder), { at: 2 });
  run?.kill();
  expect(await run?.result).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(readdirSync(join(folder, "made"))).toEqual(["draft"]);
});

it("says so when there was nothing to stop at", async () => {
  expect(await runUntil(traced("say", tempFolder()), { at: 5 })).toBeNull();
});

it("kills the program with its children, or without them", async () => {
  const [together, alone] = [tempFolder(), tempFolder()];
  const killed = await runWithFault(traced("with-child", together), { at: 2 }, { signal: "KILL" });
  expect(killed).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(killed.points.map(({ inChild }) => inChild)).toEqual([false, true]);
  expect(readdirSync(together)).toEqual(["before"]);
  const fault = { signal: "KILL", sparesChildren: true } as const;
  const orphaned = await runWithFault(traced("with-child", alone), { at: 2 }, fault);
  expect(orphaned).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(readdirSync(alone).toSorted()).toEqual(["before", "one", "two"]);
});

it("kills a child, and the program goes on", async () => {
  const folder = tempFolder();
  const fault = { signal: "KILL", sparesProgram: true } as const;
  const run = await runWithFault(traced("with-child", folder), { at: 2 }, fault);
  expect(run).toMatchObject({ fired: true, code: 0 });
  expect(readdirSync(folder).toSorted()).toEqual(["after", "before"]);
});

it("stops a child after a call when the program is killed, and lets it go on", async () => {
  const folder = tempFolder();
  const child = traced("with-child", folder);
  const run = await runUntil(child, { at: 2 }, { sparesChildren: true });
  expect(run).not.toBeNull();
  expect(readdirSync(folder).toSorted()).toEqual(["before", "one"]);
  run?.goOn();
  expect(await run?.result).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(readdirSync(folder).toSorted()).toEqual(["before", "one", "two"]);
});

it("leaves calls out that seem to succeed", async () => {
  const folder = tempFolder();
  const call = { name: "rename /made/draft /made/final", nth: 1 };
  const run = await runWithout(traced("say", folder), [call], folder);
  expect(run).toMatchObject({ fired: true, code: 0, left: [{ at: 4, call: "rename" }] });
  expect(existsSync(join(folder, "made/final"))).toBe(false);
});

it("tells when a call to be left out is not made", async () => {
  const folder = tempFolder();
  const calls = [1, 2].map((nth) => ({ name: "rename /made/draft /made/final", nth }));
  const run = await runWithout(traced("say", folder), calls, folder);
  expect(run).toMatchObject({ fired: false, code: 0, left: [{ at: 4 }] });
});
