import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { coffer, type Home, listing, makeHome, run } from "./coffer.ts";
import { answerOf } from "./answers.ts";

const FILES = { "site/a.txt": "a\n", "site/b.txt": "b\n", "notes.txt": "old\n" };
const RESOURCES = ["-r", "filesystem_copy+dir:./site", "-r", "filesystem_copy+file:notes.txt"];

/** A plan over a directory and a file, opened by one process and edited in its workspace by nobody in particular. */
function editedPlan(home: Home): void {
  answerOf(home, ["open", "try", ...RESOURCES]);
  const { path } = answerOf(home, ["path", "try", "site"]) as { path: string };
  writeFileSync(join(path, "a.txt"), "changed\n");
  writeFileSync(join(path, "new.txt"), "new\n");
  rmSync(join(path, "b.txt"));
  const notes = coffer(home, ["path", "try", "notes.txt", "-q"]);
  writeFileSync(notes.stdout.trimEnd(), "newer\n");
}

test("suggests a way into a plan that leads there, by the name of a resource where it has several", () => {
  const home = makeHome(FILES);
  const [, site = ""] = RESOURCES;
  for (const [plan, resources] of [
    ["one", ["-r", site]],
    ["two", RESOURCES],
  ] as const) {
    const { stderr } = coffer(home, ["open", plan, ...resources]);
    const [, way = ""] = /^ {2}cd "\$\(coffer (path .*)\)" +# work in it$/m.exec(stderr) ?? [];
    const { path } = answerOf(home, way.split(" ")) as { path: string };
    expect(listing(path)).toBe(listing(join(home.project, "site")));
  }
  expect(coffer(home, ["fork", "two", "three"]).stderr).toContain("coffer path three site");
});

test("takes a plan from its opening through diff and commit to its undo, each step by another process", () => {
  const home = makeHome(FILES);
  const before = listing(join(home.project, "site"));
  editedPlan(home);
  expect(listing(join(home.project, "site"))).toBe(before);

  const status = answerOf(home, ["status", "try"]) as Record<string, unknown>;
  expect(Object.keys(status)).toEqual(["planId", "state", "sandboxes", "checkpoints"]);
  const path = expect.stringMatching("^/") as string;
  expect(status).toEqual({
    planId: "try",
    state: "open",
    sandboxes: ["site", "notes.txt"].map((resourceId) => ({
      ...{ resourceId, strategyName: "filesystem_copy", status: "ACTIVE", mode: "copy", path },
      foreign: null,
    })),
    checkpoints: [],
  });

  const diff = answerOf(home, ["diff", "try"]) as {
    readonly digest: string;
    readonly sandboxes: readonly { readonly changes: readonly Record<string, unknown>[] }[];
  };
  expect(Object.keys(diff)).toEqual(["planId", "digest", "sandboxes"]);
  expect(diff.sandboxes.map((sandbox) => Object.keys(sandbox))).toEqual(
    [0, 1].map(() => ["resourceId", "strategyName", "mode", "changes", "summary"]),
  );
  const [site, notes] = diff.sandboxes;
  expect(site?.changes.map((change) => Object.keys(change))).toEqual(
    [0, 1, 2].map(() => ["path", "kind", "before", "after"]),
  );
  expect(site).toMatchObject({
    changes: [
      { path: "a.txt", kind: "modified", before: { size: 2 }, after: { size: 8 } },
      { path: "b.txt", kind: "deleted", after: null },
      { path: "new.txt", kind: "added", before: null },
    ],
    summary: { counts: { added: 1, modified: 1, deleted: 1 }, renamed: 0, bytes: 12, skipped: 0 },
  });
  expect(notes?.changes).toMatchObject([{ path: "notes.txt", kind: "modified" }]);

  const other = answerOf(home, ["commit", "try", "--expect", "0".repeat(64)], 5);
  expect(other).toMatchObject({ error: { code: "ATOMIC_COMMIT" } });
  const commit = ["commit", "try", "--expect", diff.digest, "-m", "first"];
  expect(answerOf(home, commit)).toMatchObject({
    ...{ planId: "try", outcome: "committed", order: ["site", "notes.txt"], cleaned: null },
    results: { site: { added: ["new.txt"], changed: ["a.txt"], deleted: ["b.txt"] } },
  });
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("changed\n");
  expect(readFileSync(join(home.project, "notes.txt"), "utf8")).toBe("newer\n");

  expect(answerOf(home, ["list"])).toMatchObject([{ planId: "try", state: "committed" }]);
  expect(answerOf(home, ["log"])).toMatchObject([
    {
      ...{ planId: "try", kind: "commit", outcome: "committed" },
      resources: [
        { resourceId: "site", result: { added: ["new.txt"] } },
        { resourceId: "notes.txt", result: { changed: ["notes.txt"] } },
      ],
    },
  ]);
  const log = coffer(home, ["log", "-q"]).stdout;
  expect(log).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d {2}try {2}committed {2}first\n {2}site {2}1 added, /,
  );
  expect(answerOf(home, ["rollback", "try", "--dry-run"])).toEqual({
    planId: "try",
    possible: true,
    resources: {
      site: {
        ...{ action: "undo", possible: true, isChecked: true, obstacle: null },
        ...{ changed: ["a.txt"], removed: ["new.txt"], restored: ["b.txt"] },
      },
      "notes.txt": {
        ...{ action: "undo", possible: true, isChecked: true, obstacle: null },
        ...{ changed: ["notes.txt"], removed: [], restored: [] },
      },
    },
  });
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("changed\n");
  expect(answerOf(home, ["rollback", "try"])).toMatchObject({ planId: "try", failed: {} });
  expect(listing(join(home.project, "site"))).toBe(before);
  expect(answerOf(home, ["status", "try"])).toMatchObject({ state: "rolled-back" });
  expect(answerOf(home, ["clean", "try"])).toMatchObject({ planId: "try", failed: {} });
  expect(answerOf(home, ["list"])).toEqual([]);
});

test("the preview of an undo of very many files names a few of each kind, and counts the rest", () => {
  const home = makeHome(FILES);
  answerOf(home, ["open", "try", "-r", "./site"]);
  coffer(home, ["exec", "try", "--", "sh", "-c", "cd site; rm b.txt; touch $(seq -w 12)"]);
  answerOf(home, ["commit", "try"]);
  const { stdout } = coffer(home, ["rollback", "try", "--dry-run"]);
  expect(stdout).toContain("13 paths");
  expect(stdout.match(/^ {2}- .*$/gm)).toEqual([
    ...Array.from({ length: 10 }, (_, at) => `  - ${String(at + 1).padStart(2, "0")}`),
    "  - and 2 more",
  ]);
  expect(stdout).toContain("  + b.txt\n");
  const { resources } = answerOf(home, ["rollback", "try", "--dry-run"]) as {
    resources: { site: { removed: string[] } };
  };
  expect(resources.site.removed).toHaveLength(12);
});

test("the history shows a message of several lines as such", () => {
  const home = makeHome(FILES);
  answerOf(home, ["open", "try", "-r", "./site"]);
  coffer(home, ["exec", "try", "--", "touch", "site/new.txt"]);
  answerOf(home, ["commit", "try", "-m", "one\n\ntwo\u001b[2J\n"]);
  expect(coffer(home, ["log", "-q"]).stdout).toMatch(
    / {2}try {2}committed {2}one\n {4}two\\x1b\[2J\n {2}site {2}1 added\b/,
  );
});

test("commits only what is asked for, and forgets the plan afterwards where that is asked for", () => {
  const home = makeHome(FILES);
  editedPlan(home);
  expect(answerOf(home, ["commit", "try", "--only", "./notes.txt"])).toMatchObject({
    order: ["notes.txt"],
  });
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("a\n");
  expect(answerOf(home, ["status", "try"])).toMatchObject({ state: "partly-committed" });
  expect(answerOf(home, ["commit", "try", "--clean"])).toMatchObject({
    order: ["site"],
    cleaned: { planId: "try", failed: {} },
  });
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("changed\n");
  expect(answerOf(home, ["list"])).toEqual([]);
});

test("says what it did on the standard error, the answer on the standard output, and what to do next", () => {
  const home = makeHome(FILES);
  const opened = coffer(home, ["open", "my plan", "-r", "filesystem_copy+dir:./site"]);
  expect(opened).toMatchObject({ code: 0, stdout: "" });
  expect(opened.stderr).toMatch(
    /(?:^|\n)The plan my plan is open:\n {2}site {2}filesystem_copy \(copy\)/,
  );
  expect(opened.stderr).toContain("coffer diff 'my plan'");
  const status = coffer(home, ["status", "my plan"]);
  expect(status.stdout).toMatch(/^my plan is open\n\nRESOURCE .*\nsite +ACTIVE +filesystem_copy/);
  expect(status.stderr).toContain("coffer commit 'my plan'");
  expect(coffer(home, ["status", "my plan", "-q"])).toEqual({ ...status, stderr: "" });
  const list = coffer(home, ["list", "--quiet"]);
  expect(list.stdout).toMatch(/^PLAN +STATE +CHANGED +RESOURCES\nmy plan +open .* site\n$/);
  const none = coffer(home, ["commit", "my plan"]);
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toContain("There was nothing to commit.\n");
  expect(coffer(home, ["log", "--state", join(home.folder, "empty")])).toMatchObject({
    ...{ code: 0, stdout: "", stderr: "Nothing was committed yet.\n" },
  });
});

test("keeps its plans from being taken for abandoned, and cleans up those of programs that are gone", async () => {
  const home = makeHome(FILES);
  const { stateDirectory } = home;
  answerOf(home, ["open", "try", "-r", "filesystem_copy+dir:./site"]);
  // As far as this instance knows it is two days ago, and so its last sign of life is made to be.
  const clock = { now: () => new Date(Date.now() - 48 * 60 * 60_000) };
  {
    await using past = await openCofferdam({ stateDirectory, config: false, clock });
    await past.create("left", join(home.project, "notes.txt"), { strategy: "filesystem_copy" });
  }
  const signs = [stateDirectory, "-path", "*/owners/*", "-exec", "touch", "-d", "2 days ago"];
  expect(run(home, "find", [...signs, "{}", "+"]).code).toBe(0);
  expect(answerOf(home, ["clean", "--abandoned"])).toMatchObject({
    abandoned: [{ planId: "left" }],
    spared: { try: "kept" },
  });
  expect(answerOf(home, ["list"])).toMatchObject([{ planId: "try" }]);
});

test("tells the disk space that each plan holds, which du finds too", () => {
  const home = makeHome({ "site/big": "x".repeat(300_000), "notes.txt": "old\n" });
  answerOf(home, ["open", "big", "-r", "filesystem_copy+dir:./site"]);
  answerOf(home, ["open", "small", "-r", "filesystem_copy+file:./notes.txt"]);
  const [big, small] = answerOf(home, ["clean", "--list"]) as { planId: string; bytes: number }[];
  expect(big).toMatchObject({ planId: "big", state: "open", resources: { site: big?.bytes } });
  expect(big?.bytes).toBeGreaterThanOrEqual(300_000);
  expect(big?.bytes).toBeLessThan(400_000);
  expect(small?.bytes).toBeLessThan(50_000);
  expect(coffer(home, ["clean", "--list"]).stdout).toMatch(/^big +open +3\d\d kB$/m);
});

test("does not forget edits that are not committed unless it is forced to", () => {
  const home = makeHome(FILES);
  editedPlan(home);
  expect(answerOf(home, ["clean", "try"], 4)).toMatchObject({ error: { code: "SANDBOX_STATE" } });
  expect(answerOf(home, ["list"])).toMatchObject([{ planId: "try", state: "open" }]);
  expect(answerOf(home, ["clean", "try", "--force"])).toMatchObject({ failed: {} });
  expect(answerOf(home, ["list"])).toEqual([]);
});
