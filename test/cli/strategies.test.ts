import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILT_IN_STRATEGY_NAMES } from "../../src/index.ts";
import type { StrategiesReport } from "../../src/index.ts";
import { coffer, type Home, listing, makeHome } from "./coffer.ts";

type Answer = StrategiesReport & { readonly configFile: string | null };

function answerOf(home: Home, ...args: readonly string[]): Answer {
  const { code, stdout, stderr } = coffer(home, ["strategies", ...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Answer;
}

test("lists every built-in strategy with what it promises and whether it works here", () => {
  const home = makeHome();
  const answer = answerOf(home);
  expect(answer).toMatchObject({
    location: home.project,
    resourceType: "fs-directory",
    configFile: null,
    chosen: { name: "overlay", chosenBy: "default" },
  });
  expect(answer.strategies.map(({ name }) => name)).toEqual(BUILT_IN_STRATEGY_NAMES);
  for (const strategy of answer.strategies) {
    const fits = !["git_worktree", "transaction_rollback"].includes(strategy.name);
    expect(strategy).toMatchObject({ origin: "built-in", fits, error: null });
    // What does not fit is not tried.
    expect(strategy.probe?.works ?? null).toBe(fits ? true : null);
    expect(strategy.isChosen).toBe(strategy.name === "overlay");
  }
});

test("answers in this form", () => {
  const answer = answerOf(makeHome());
  expect(Object.keys(answer).toSorted()).toEqual([
    "chosen",
    "configFile",
    "location",
    "resourceType",
    "strategies",
  ]);
  const [first] = answer.strategies;
  expect(Object.keys(first ?? {}).toSorted()).toEqual([
    "capabilities",
    "error",
    "fits",
    "isChosen",
    "name",
    "origin",
    "probe",
  ]);
  expect(Object.keys(first?.capabilities ?? {}).toSorted()).toEqual([
    "changeTracking",
    "checkpoints",
    "copies",
    "decides",
    "drops",
    "encloses",
    "entries",
    "forks",
    "isolation",
    "outcome",
    "path",
    "pathCalls",
    "prepare",
    "queries",
    "resolves",
    "undoCommit",
  ]);
});

test("says the same in words", () => {
  const home = makeHome();
  const { code, stdout } = coffer(home, ["strategies"]);
  expect(code).toBe(0);
  const [head, ...parts] = stdout.split("\n\n");
  expect(head).toBe(`Strategies for ${home.project} (fs-directory)`);
  const told = new Map(parts.map((part) => [part.split(/[ \n]/, 1)[0], part]));
  expect([...told.keys()]).toEqual(BUILT_IN_STRATEGY_NAMES);
  expect(told.get("overlay")).toContain("(the default)");
  expect(told.get("filesystem_copy")).toContain("works here, mode copy");
  expect(told.get("filesystem_copy")).toContain("a commit can be undone");
  expect(told.get("none")).toContain("edits take effect at once");
});

test("looks at a single file as well", () => {
  const home = makeHome();
  const answer = answerOf(home, "file.txt");
  expect(answer).toMatchObject({
    location: join(home.project, "file.txt"),
    resourceType: "fs-file",
  });
});

test("lists strategies of the configuration, and why one of them cannot be used (R118)", () => {
  const home = makeHome({
    "cofferdam.yaml": `
sandbox:
  strategy: good
  custom_strategies:
    good: { module: ./good.mjs, class: Good }
    bad: { module: ./bad.mjs }
`,
    "good.mjs": `
const later = () => Promise.reject(new Error("not asked for"));
export class Good {
  create = later; read = later; write = later; diff = later; commit = later;
  rollback = later; checkpoint = later; restoreCheckpoint = later; cleanup = later;
}
`,
    "bad.mjs": `throw new Error("broken when loaded");`,
  });
  const answer = answerOf(home);
  expect(answer).toMatchObject({
    configFile: join(home.project, "cofferdam.yaml"),
    chosen: { name: "good", chosenBy: "global" },
  });
  const found = new Map(answer.strategies.map((strategy) => [strategy.name, strategy]));
  expect(found.get("good")).toMatchObject({
    origin: "custom",
    module: "./good.mjs",
    exportName: "Good",
    isChosen: true,
    probe: null,
    error: null,
    capabilities: { isolation: "none", undoCommit: false },
  });
  expect(found.get("bad")).toMatchObject({
    origin: "custom",
    capabilities: null,
    error: { code: "STRATEGY_LOAD", data: { reason: "failed" } },
  });
  const { stdout } = coffer(home, ["strategies"]);
  expect(stdout).toContain("good (chosen by sandbox.strategy)");
  expect(stdout).toMatch(/^bad\n {2}cannot be used: /m);
});

test("leaves nothing behind, neither in the project nor in the area", () => {
  const home = makeHome();
  answerOf(home);
  const before = [listing(home.project), listing(home.stateDirectory)];
  answerOf(home);
  expect(listing(home.project)).toBe(before[0]);
  expect(listing(home.stateDirectory)).not.toContain("area d");
  expect(listing(home.project)).not.toContain("cofferdam");
});
