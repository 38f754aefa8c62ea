import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Change } from "../../src/index.ts";
import { runChild } from "../support/child.ts";
import { nobody } from "../support/nobody.ts";
import {
  type ForeignHome,
  GROUPS,
  entriesOf,
  makeForeignHome,
  plantFile,
  plantForeign,
} from "./foreign-tree.ts";
import type { CallsReport } from "./programs/foreign-groups.ts";

const CALLS = new URL("./programs/foreign-groups.ts", import.meta.url);
const own = nobody.gid;

/** What a user may do in such a project; the last line fails everywhere, because the file is root's. */
const WORK = [
  "umask 022",
  "echo more >> src/edited.txt",
  "rm src/deleted.txt",
  "mv src/renamed.txt src/new-name.txt",
  "sed 's/old/new/' src/replaced.txt > src/tmp && mv src/tmp src/replaced.txt",
  "chmod 600 src/closed.txt",
  "mkdir src/made && echo made > src/made/file.txt",
  "echo more >> src/deep/edited.txt",
  "rm -r old",
  "mv top.txt src/top.txt",
  "cat roots/readable.txt > copied.txt",
  "rm -f roots/removed.txt",
  "ln -sf edited.txt src/link",
  "echo x >> roots/readable.txt",
];
const FAILING = WORK.length - 1;

const CHANGED: readonly (readonly [path: string, kind: Change["kind"]])[] = [
  ["copied.txt", "added"],
  ["old", "deleted"],
  ["old/gone.txt", "deleted"],
  ["roots/removed.txt", "deleted"],
  ["src/closed.txt", "modeChanged"],
  ["src/deep/edited.txt", "modified"],
  ["src/deleted.txt", "deleted"],
  ["src/edited.txt", "modified"],
  ["src/link", "linkChanged"],
  ["src/made", "added"],
  ["src/made/file.txt", "added"],
  ["src/new-name.txt", "added"],
  ["src/renamed.txt", "deleted"],
  ["src/replaced.txt", "modified"],
  ["src/top.txt", "added"],
  ["top.txt", "deleted"],
];

/** Each line by itself, which tells those that failed by their number. */
const SCRIPT = WORK.map((line, at) => `{ ${line}; } || echo ${at} failed`).join("\n");

/** A project, a second one in which the same is done without a plan, and what `find` says of both afterwards. */
function workInside(group: number, fuse: "open" | "closed"): Worked {
  const home = makeForeignHome(group, fuse);
  const twin = join(home.folder, "twin");
  mkdirSync(twin);
  for (const root of [home.project, twin]) plantForeign(root, group);
  const before = entriesOf(home.project);
  const outside = home.shell(SCRIPT, twin).stdout;
  const inside = home.coffer("run", "-p", "plan", "--", "sh", "-c", SCRIPT);
  return {
    home,
    before,
    outside,
    inside,
    twin: entriesOf(twin),
    changes: changesOf(home),
  };
}

function changesOf(home: ForeignHome): readonly Change[] {
  const { sandboxes } = JSON.parse(home.coffer("diff", "plan", "--json").stdout) as {
    sandboxes: readonly { changes: readonly Change[] }[];
  };
  return sandboxes.flatMap(({ changes }) => changes);
}

interface Worked {
  readonly home: ForeignHome;
  readonly before: Readonly<Record<string, string>>;
  readonly outside: string;
  readonly inside: ReturnType<ForeignHome["coffer"]>;
  readonly twin: Readonly<Record<string, string>>;
  readonly changes: readonly Change[];
}

function kindsOf(changes: readonly Change[]): readonly (readonly [string, string])[] {
  return changes.map(({ path, kind }) => [path, kind] as const);
}

describe.each([
  { fuse: "open", mode: "fuse" },
  { fuse: "closed", mode: "copy" },
] as const)("an ordinary user's commands, where the best mode is $mode,", ({ fuse, mode }) => {
  it("change files of a group that he is in as they would outside a plan, to the last owner (R170)", () => {
    const { home, before, outside, inside, twin, changes } = workInside(GROUPS.supplementary, fuse);
    expect(outside).toBe(`${FAILING} failed\n`);
    expect([inside.stdout, mode]).toEqual([mode === "copy" ? "" : outside, mode]);
    expect(kindsOf(changes).filter(([path]) => path !== "roots/readable.txt")).toEqual(CHANGED);
    // A copy belongs to the user; then it is told that root's file would become his.
    const written = changes.find(({ path }) => path === "roots/readable.txt");
    expect(written?.notes).toEqual(mode === "copy" ? ["owner cannot be kept"] : undefined);
    expect(home.coffer("commit", "plan").code).toBe(0);
    const after = entriesOf(home.project);
    expect(without(after, "roots/readable.txt")).toEqual(without(twin, "roots/readable.txt"));
    expect(home.coffer("rollback", "plan").code).toBe(0);
    expect(entriesOf(home.project)).toEqual(before);
  });

  it("change files of a group that he is not in, and what cannot keep it is told before and after (R170)", () => {
    const { home, before, outside, inside, twin, changes } = workInside(GROUPS.foreign, fuse);
    expect(outside).toBe(`${FAILING} failed\n`);
    expect(inside.stdout).toBe(mode === "copy" ? "" : outside);
    expect(kindsOf(changes).filter(([path]) => path !== "roots/readable.txt")).toEqual(CHANGED);
    const committed = home.coffer("commit", "plan");
    expect(committed.code).toBe(0);
    const after = entriesOf(home.project);
    const given = Object.keys(after).filter((path) => after[path] !== twin[path]);
    for (const path of ["src/edited.txt", "src/closed.txt", "src/deep/edited.txt"])
      expect(committed.stderr).toContain(path);
    const lost = changes.filter(({ notes = [] }) => notes.some((note) => note.includes("group")));
    expect(Object.keys(after).toSorted()).toEqual(Object.keys(twin).toSorted());
    for (const path of given.filter((one) => one !== "roots/readable.txt")) {
      expect(after[path]).toBe(twin[path]?.replace(/ \d+:0 /, ` ${nobody.uid}:${own} `));
      expect(lost.map((change) => change.path)).toContain(path);
    }
    expect(home.coffer("rollback", "plan").code).toBe(0);
    expect(entriesOf(home.project)).toEqual(before);
  });

  it("leave in a folder with the set-group-ID bit what they would leave there outside a plan (R170)", () => {
    const home = makeForeignHome(GROUPS.supplementary, fuse);
    const twin = join(home.folder, "twin");
    mkdirSync(twin);
    for (const root of [home.project, twin]) {
      plantForeign(root, GROUPS.supplementary);
      plantFile(root, "own.txt", nobody.uid, own);
      for (const path of [root, "src", "src/deep"]) chmodSync(resolve(root, path), 0o2775);
    }
    const before = entriesOf(home.project);
    const work = [
      "umask 022; echo new > src/deep/new.txt; echo more >> src/deep/edited.txt",
      "mkdir -p src/deep/made/below; echo new > src/deep/made/below/new.txt",
      "mv own.txt src/own.txt; mv old/gone.txt src/deep/gone.txt; echo new > top.new",
    ].join("; ");
    expect(home.shell(work, twin).code).toBe(0);
    expect(home.coffer("run", "-p", "plan", "--", "sh", "-c", work).code).toBe(0);
    expect(home.coffer("diff", "plan").stdout).not.toMatch(/old mode|cannot be kept/);
    expect(home.coffer("commit", "plan").code).toBe(0);
    expect(entriesOf(home.project)).toEqual(entriesOf(twin));
    expect(home.coffer("rollback", "plan").code).toBe(0);
    expect(entriesOf(home.project)).toEqual(before);
  });

  it("change a single file of another group, which is a resource by itself (R170)", () => {
    const home = makeForeignHome(GROUPS.foreign, fuse);
    plantFile(home.project, "src/file.txt", nobody.uid, GROUPS.foreign);
    const before = entriesOf(home.project);
    const line = "echo more >> src/file.txt";
    const args = ["-p", "plan", "-r", "file:src/file.txt", "--", "sh", "-c", line];
    expect(home.coffer("run", ...args).code).toBe(0);
    expect(kindsOf(changesOf(home))).toEqual([["file.txt", "modified"]]);
    expect(home.coffer("diff", "plan").stdout).toContain("group cannot be kept");
    expect(home.coffer("commit", "plan").code).toBe(0);
    expect(home.shell("cat src/file.txt").stdout).toBe("old src/file.txt\nmore\n");
    expect(home.coffer("rollback", "plan").code).toBe(0);
    expect(entriesOf(home.project)).toEqual(before);
  });

  it("run in a mode that is told with its reason, in the ref, by status and by doctor (R71)", () => {
    const home = makeForeignHome(GROUPS.foreign, fuse);
    plantForeign(home.project, GROUPS.foreign);
    expect(home.coffer("open", "plan", "-r", ".").code).toBe(0);
    const because = /(src|old|roots) has the group 0/;
    const status = home.coffer("status", "plan");
    expect(status.stdout).toContain(`overlay (${mode})`);
    expect(status.stdout).toMatch(because);
    expect(home.coffer("status", "plan", "--json").stdout).toMatch(because);
    expect(home.coffer("doctor", ".").stdout).toMatch(because);
    expect(home.coffer("strategies", ".").stdout).toMatch(because);
    expect(home.coffer("clean", "plan", "--force").code).toBe(0);
  });
});

function without(
  entries: Readonly<Record<string, string>>,
  path: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => name !== path));
}

describe.each(["userns", "fuse", "copy"] as const)("calls in mode %s", (mode) => {
  it.each([
    ["that the user is in", GROUPS.supplementary],
    ["that the user is not in", GROUPS.foreign],
  ])("show no change that nobody made in files of a group %s (R170)", async (_which, group) => {
    const home = makeForeignHome(group, mode === "fuse" ? "open" : "closed");
    plantForeign(home.project, group);
    const before = entriesOf(home.project);
    const order = { project: home.project, state: home.state, mode };
    const { code, stdout, stderr } = await runChild(CALLS, [], {
      input: JSON.stringify(order),
      wrapper: home.wrapper,
      env: { HOME: home.folder, TMPDIR: join(home.folder, "tmp") },
    });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const { steps, written, warnings } = JSON.parse(stdout) as CallsReport;
    for (const step of ["new", "with a checkpoint", "with a workspace"])
      expect([step, steps[step]]).toEqual([step, []]);
    const removed = ["src/deleted.txt", "deleted"];
    expect(kindsOf(steps["removed"] ?? [])).toEqual([removed]);
    expect(kindsOf(steps["dropped"] ?? [])).toEqual([removed]);
    const both = [["src/deep/edited.txt", "modified"], removed];
    expect(kindsOf(steps["written"] ?? [])).toEqual(both);
    expect(kindsOf(steps["restored"] ?? [])).toEqual(both);
    const left = group === GROUPS.foreign ? own : group;
    const [edited] = steps["restored"] ?? [];
    expect([edited?.before?.gid, edited?.after?.gid]).toEqual([group, left]);
    expect([written.after?.gid, written.notes]).toEqual([left, edited?.notes]);
    expect(edited?.notes).toEqual(left === group ? undefined : ["group cannot be kept"]);
    expect(warnings.map((text) => text.split(" ")[0])).toEqual(
      left === group ? [] : ["src/deep/edited.txt"],
    );
    const { "src/deleted.txt": _gone, ...kept } = before;
    const after = entriesOf(home.project);
    expect(without(after, "src/deep/edited.txt")).toEqual(without(kept, "src/deep/edited.txt"));
    expect(after["src/deep/edited.txt"]).toContain(` ${nobody.uid}:${left} `);
  });
});

describe.each([
  { fuse: "open", mode: "fuse" },
  { fuse: "closed", mode: "userns" },
] as const)("files of root in a project, where the best mode is $mode,", ({ fuse, mode }) => {
  it("can be read, removed and replaced, and not written, as outside a plan (R71)", () => {
    const home = makeForeignHome(own, fuse);
    const twin = join(home.folder, "twin");
    mkdirSync(twin);
    for (const root of [home.project, twin]) {
      plantFile(root, "own.txt", nobody.uid, own);
      for (const name of ["removed", "replaced", "written", "moved", "src/deep"])
        plantFile(root, `${name}.txt`, 0, 0);
      execFileSync("chown", [`${nobody.uid}:${own}`, root, join(root, "src")]);
    }
    const work = [
      "cat removed.txt replaced.txt",
      "rm -f removed.txt src/deep.txt",
      "echo new > tmp && mv -f tmp replaced.txt",
      "echo x >> written.txt",
      ...(mode === "fuse" ? ["mv moved.txt src/moved.txt"] : []),
    ];
    const script = work.map((line, at) => `{ ${line}; } || echo ${at} failed`).join("\n");
    const outside = home.shell(script, twin).stdout;
    expect(outside).toContain("3 failed");
    expect(home.coffer("run", "-p", "plan", "--", "sh", "-c", script).stdout).toBe(outside);
    expect(home.coffer("status", "plan").stdout).toMatch(
      new RegExp(`mode ${mode}: \\w+.txt belongs to the user 0`),
    );
    const diff = home.coffer("diff", "plan").stdout;
    expect(diff).toMatch(/replaced.txt .*owner 0:0 → \d+:\d+, owner cannot be kept/);
    expect(home.coffer("commit", "plan").code).toBe(0);
    const moved = mode === "fuse" ? ["src/moved.txt"] : [];
    const after = entriesOf(home.project);
    const expected = { ...entriesOf(twin) };
    // A rename outside keeps the owner; here the diff says that it cannot be kept.
    for (const path of moved)
      expected[path] = expected[path]?.replace(" 0:0 ", ` ${nobody.uid}:${own} `) ?? "";
    for (const path of moved) expect(diff).toMatch(new RegExp(`${path}.*owner cannot be kept`));
    expect(after).toEqual(expected);
    expect(home.coffer("clean", "plan").code).toBe(0);
  });
});

it.each([
  { fuse: "closed", mode: "copy" },
  { fuse: "open", mode: "fuse" },
] as const)(
  "a command that meets foreign groups deep in a project is told of them, and mode $mode can change them (R71)",
  ({ fuse, mode }) => {
    const home = makeForeignHome(own, fuse);
    plantFile(home.project, "a/own.txt", nobody.uid, own);
    plantFile(home.project, "a/b/foreign.txt", nobody.uid, GROUPS.foreign);
    const work = ["--", "sh", "-c", "echo new > a/b/foreign.txt"];
    const failed = home.coffer("run", "-p", "first", ...work);
    expect(failed.code).not.toBe(0);
    expect(failed.stderr).toContain(`It could not change ${join(home.project, "a/b")}`);
    expect(failed.stderr).toContain(`mode: ${mode}`);
    const unrelated = home.coffer("run", "-p", "second", "--", "true");
    expect(unrelated.stderr).not.toContain("It could not change");
    const properties = `{ mode: ${mode} }`;
    const resource = `{ type: fs-directory, location: ., properties: ${properties} }`;
    writeFileSync(
      join(home.project, "cofferdam.yaml"),
      `version: 1\nresources:\n  site: ${resource}\n`,
    );
    chownSync(join(home.project, "cofferdam.yaml"), nobody.uid, own);
    const done = home.coffer("run", "-p", "third", "-r", "site", "--commit", ...work);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain("group cannot be kept");
    expect(entriesOf(home.project)["a/b"]).toContain(`${nobody.uid}:0`);
    expect(entriesOf(home.project)["a/b/foreign.txt"]).toContain(`${nobody.uid}:${own}`);
  },
);

it("a project that cannot be copied because of a file that only root can read is worked in as far as it can be (R193)", () => {
  const home = makeForeignHome(GROUPS.foreign, "closed");
  plantForeign(home.project, GROUPS.foreign);
  plantFile(home.project, "roots/secret.txt", 0, 0);
  chmodSync(join(home.project, "roots/secret.txt"), 0o600);
  const ran = home.coffer("run", "-p", "plan", "--", "sh", "-c", "echo new > top.new");
  expect(ran.code).toBe(0);
  const status = home.coffer("status", "plan", "--json").stdout;
  expect(JSON.parse(status)).toMatchObject({ sandboxes: [{ mode: "userns" }] });
  expect(kindsOf(changesOf(home))).toEqual([["top.new", "added"]]);
  expect(home.coffer("clean", "plan", "--force").code).toBe(0);
});

it("a user who joins a group while a plan is open finds no change of that group in it (R170)", () => {
  const home = makeForeignHome(GROUPS.supplementary, "closed");
  plantFile(home.project, "src/file.txt", nobody.uid, GROUPS.supplementary);
  const properties = "{ mode: userns }";
  const resource = `{ type: fs-directory, location: ${home.project}, properties: ${properties} }`;
  writeFileSync(
    join(home.folder, "cofferdam.yaml"),
    `version: 1\nresources:\n  site: ${resource}\n`,
  );
  const before = entriesOf(home.project);
  expect(home.cofferAlone("open", "plan", "-r", "site").code).toBe(0);
  expect(changesOf(home)).toEqual([]);
  expect(home.coffer("clean", "plan", "--force").code).toBe(0);
  expect(entriesOf(home.project)).toEqual(before);
});
