import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { coffer, listing, makeHome, node, program, run } from "./coffer.ts";
import { KEYS, startInTerminal } from "./pseudo-terminal.ts";

test("shows a failure, a kill and an undo over three kinds of things, and leaves nothing", () => {
  const home = makeHome();
  const { code, stdout, stderr } = coffer(home, ["demo"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const steps = [...stdout.matchAll(/^(\d)\. (\w+)/gm)].map(([, number]) => Number(number));
  expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(stdout).toContain("$ coffer open raise");
  expect(stdout).toContain("-<h1>Apples: 3 euros</h1>\n   +<h1>Apples: 5 euros</h1>\n");
  expect(stdout).toContain("apples  cents: 300 → 500");
  expect(stdout).toContain("Neither the directory nor the database has changed.");
  expect(stdout).toMatch(/All three are (?:as before; the edits are kept|new)\./);
  expect(listing(home.env["TMPDIR"] ?? "").split("\n")).toHaveLength(2);
});

test("tells the steps as one JSON value", () => {
  const { stdout } = coffer(makeHome(), ["demo", "--json"]);
  const { steps } = JSON.parse(stdout) as { readonly steps: readonly unknown[] };
  expect(steps).toHaveLength(7);
});

test("leaves nothing when nobody reads on", () => {
  const home = makeHome();
  const line = `'${node}' '${program}' demo | head -n 6`;
  expect(run(home, "sh", ["-c", line]).stdout).toContain("coffer open raise");
  expect(readdirSync(home.env["TMPDIR"] ?? "")).toEqual([]);
});

test("Ctrl-C stops it in order, and leaves nothing", async () => {
  const home = makeHome();
  const terminal = startInTerminal(home, ["demo"]);
  await terminal.sees("coffer exec raise");
  terminal.type(KEYS.interrupt);
  expect(await terminal.ended()).toBe(5);
  expect(terminal.shown()).toContain("The demo was stopped; nothing of it is left");
  expect(readdirSync(home.env["TMPDIR"] ?? "")).toEqual([]);
});
