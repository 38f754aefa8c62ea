import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openExecSite } from "./site.ts";

it("a command cannot write to the folder of the state, and knows the name of its plan", async () => {
  const { coffer, run } = await openExecSite();
  const ran = await run(`echo "$COFFERDAM_PLAN"; echo x > '${coffer.stateDirectory}/made'`);
  expect(ran.stdout).toBe("plan\n");
  expect(ran.exitCode).not.toBe(0);
});

it("a command of an ordinary user has no capability and can gain none", async () => {
  const { run } = await openExecSite();
  const { stdout } = await run("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status");
  const isRoot = process.geteuid?.() === 0;
  const held = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/)[1] ?? "");
  expect(held.every((value) => /^0+$|^1$/.test(value))).toBe(!isRoot);
});

it("a single file is written in place in its sandbox, and cannot be replaced by a rename", async () => {
  const { project, plan, run } = await openExecSite((home) => [
    { id: "notes", type: "fs-file", location: join(home, "notes.txt") },
  ]);
  writeFileSync(join(project, "other"), "other\n");
  const notes = join(project, "..", "notes.txt");
  expect((await run(`echo new > '${notes}'`)).exitCode).toBe(0);
  expect((await run(`mv other '${notes}'`)).exitCode).not.toBe(0);
  expect(readFileSync(notes, "utf8")).toBe("mine\n");
  expect((await plan.commit()).outcome).toBe("committed");
  expect(readFileSync(notes, "utf8")).toBe("new\n");
});
