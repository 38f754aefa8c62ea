import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { answerOf } from "./answers.ts";
import { coffer, makeHome } from "./coffer.ts";
import { homeWithOddStrategies } from "./odd-strategies.ts";

const HELP = `
  0  done
  1  failed for a reason that has no number of its own
  2  called wrongly
  3  somebody else changed the same thing: nothing was published
  4  refused before anything was tried
  5  given up: every resource is as before, the edits are kept
  6  decided but not finished, or in doubt: \`coffer recover\` settles it
  7  there is no such plan
  8  somebody else is at work on the plan or resource
`;

/** Opens a plan over the folder `data` with a strategy, and changes its file. */
function changed(home: ReturnType<typeof makeHome>, strategy: string, plan = "try"): void {
  answerOf(home, ["open", plan, "-r", `${strategy}+dir:./data`]);
  const { path } = answerOf(home, ["path", plan]) as { path: string };
  writeFileSync(join(path, "file"), "mine\n");
}

test("tells its exit codes in the help", () => {
  expect(coffer(makeHome(), ["--help"]).stdout).toContain(HELP);
});

test("ends with 3 for a conflict, names the path and how to settle it, and publishes nothing", () => {
  const home = makeHome({ "data/file": "old\n" });
  changed(home, "filesystem_copy");
  const file = join(home.project, "data/file");
  writeFileSync(file, "theirs, and longer\n");
  expect(answerOf(home, ["commit", "try"], 3)).toMatchObject({
    error: {
      code: "ATOMIC_COMMIT",
      cause: { code: "SANDBOX_CONFLICT", data: { conflicts: [{ path: "file" }] } },
      hint: expect.stringContaining("coffer resolve try file --mine") as string,
    },
  });
  expect(readFileSync(file, "utf8")).toBe("theirs, and longer\n");
  const { code, stdout, stderr } = coffer(home, ["commit", "try"]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/^coffer: .*\nhint: .*coffer diff try/m);
});

test("ends with 3 when somebody changed what an undo would put back, also in the preview", () => {
  const home = makeHome({ "data/file": "old\n" });
  changed(home, "filesystem_copy");
  answerOf(home, ["commit", "try"]);
  writeFileSync(join(home.project, "data/file"), "theirs, and longer\n");
  expect(answerOf(home, ["rollback", "try", "--dry-run"], 4)).toMatchObject({
    possible: false,
    resources: { data: { possible: false, obstacle: { code: "SANDBOX_ROLLBACK" } } },
  });
  const { resources } = answerOf(home, ["rollback", "try", "--dry-run"], 4) as {
    resources: { data: { obstacle: { hint: string } } };
  };
  const { hint } = resources.data.obstacle;
  expect(hint).not.toBe("");
  const told = coffer(home, ["rollback", "try", "--dry-run"]).stdout;
  expect(told).toContain("data: the commit cannot be taken back, 1 path\n");
  expect(told).toContain(`  ${hint}\n`);
  expect(answerOf(home, ["rollback", "try"], 3)).toMatchObject({
    error: { code: "SANDBOX_ROLLBACK", data: { reason: "foreignEdits" } },
  });
  expect(readFileSync(join(home.project, "data/file"), "utf8")).toBe("theirs, and longer\n");
});

test("ends with 4 where all or nothing cannot be promised, unless best effort will do", () => {
  const home = makeHome({ "data/file": "old\n", "other/file": "old\n" });
  answerOf(home, ["open", "try", "-r", "none+dir:data", "-r", "filesystem_copy+dir:other"]);
  expect(answerOf(home, ["commit", "try"], 4)).toMatchObject({
    error: { code: "ATOMIC_COMMIT", data: { report: { outcome: "refused" } } },
  });
  expect(answerOf(home, ["commit", "try", "--best-effort"])).toMatchObject({
    atomicity: "bestEffort",
  });
});

test("tells when a plan is opened, and by its status, that all or nothing cannot be promised", () => {
  const home = makeHome({ "data/file": "old\n", "other/file": "old\n" });
  const why = "data: its edits take effect at once";
  const opened = coffer(home, [
    "open",
    "try",
    "-r",
    "none+dir:data",
    "-r",
    "filesystem_copy+dir:other",
  ]);
  expect(opened.stderr).toContain(why);
  expect(opened.stderr).toContain("coffer commit try --best-effort");
  const { stderr } = coffer(home, ["status", "try"]);
  expect(stderr).toContain(why);
  expect(coffer(home, ["commit", "try"]).stderr).toContain("coffer commit try --only RESOURCE");
  const whole = coffer(home, ["open", "whole", "-r", "filesystem_copy+dir:other"]);
  expect(whole.stderr).not.toContain("promised");
});

test("ends with 5 when a commit is given up, with 6 when it is decided and cannot be finished", () => {
  const home = homeWithOddStrategies({ "data/file": "old\n" });
  changed(home, "unprepared");
  expect(answerOf(home, ["commit", "try"], 5)).toMatchObject({
    error: { data: { report: { outcome: "aborted" } } },
  });
  expect(readFileSync(join(home.project, "data/file"), "utf8")).toBe("old\n");
  changed(home, "unfinished", "second");
  const answer = answerOf(home, ["commit", "second"], 6);
  expect(JSON.stringify(answer)).toMatch(/"outcome":"(?:committed-pending|in-doubt)"/);
  expect(answerOf(home, ["recover"], 6)).toMatchObject({ complete: false });
  // Nobody says that all is well again.
  const later = coffer(home, ["open", "third", "-r", "filesystem_copy+dir:data"]);
  expect(later.code).toBe(0);
  expect(later.stderr).toContain("coffer recover");
});

test("ends with 7 for a plan that is not there, and names the closest one", () => {
  const home = makeHome({ "data/file": "old\n" });
  answerOf(home, ["open", "holiday", "-r", "filesystem_copy+dir:data"]);
  expect(answerOf(home, ["status", "holliday"], 7)).toMatchObject({
    error: {
      code: "SANDBOX_STATE",
      data: { reason: "unknownPlan" },
      hint: "Did you mean holiday? `coffer list` shows the plans.",
    },
  });
  for (const args of [
    ["commit", "x"],
    ["diff", "x"],
    ["restore", "x", "y"],
    ["clean", "x"],
  ])
    expect(answerOf(home, args, 7)).toMatchObject({ error: { code: "SANDBOX_STATE" } });
});

test("merges text that both sides changed in different places where that is asked for", async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
  const home = makeHome({ "data/file": lines.join("") });
  answerOf(home, ["open", "try", "-r", "filesystem_copy+dir:./data"]);
  {
    // What both sides began with is kept by calls of the library; a program in the workspace keeps nothing.
    await using cofferdam = await openCofferdam({ stateDirectory: home.stateDirectory });
    const plan = await cofferdam.plan("try");
    await plan.sandbox("data").write("file", lines.with(0, "mine\n").join(""));
  }
  const file = join(home.project, "data/file");
  writeFileSync(file, lines.with(19, "theirs\n").join(""));
  expect(answerOf(home, ["commit", "try", "--merge"])).toMatchObject({ outcome: "committed" });
  expect(readFileSync(file, "utf8")).toBe(lines.with(0, "mine\n").with(19, "theirs\n").join(""));
});
