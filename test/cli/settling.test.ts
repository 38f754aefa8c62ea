import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome, run } from "./coffer.ts";

const FILES = { "site/a.txt": "a\n", "site/b.txt": "b\n", "site/docs/c.txt": "c\n" };

function open(home: Home, ...resources: readonly string[]): void {
  const given = resources.flatMap((resource) => ["-r", resource]);
  answerOf(home, ["open", "try", ...given]);
}

const workspace = (home: Home, resource = "site"): string =>
  (answerOf(home, ["path", "try", resource]) as { path: string }).path;

interface Diff {
  readonly sandboxes: readonly { readonly changes: readonly { readonly path: string }[] }[];
}

const changed = (home: Home): string[] =>
  (answerOf(home, ["diff", "try"]) as Diff).sandboxes.flatMap(({ changes }) =>
    changes.map(({ path }) => path),
  );

test("takes single edits back, by the path of the diff and by that of the user, and keeps the rest", () => {
  const home = makeHome(FILES);
  open(home, "filesystem_copy+dir:./site");
  const at = workspace(home);
  for (const name of ["a.txt", "b.txt", "docs/c.txt"]) appendFileSync(join(at, name), "more\n");
  mkdirSync(join(at, "new"));
  writeFileSync(join(at, "new/d.txt"), "d\n");
  expect(answerOf(home, ["drop", "try", "a.txt", "site/docs"])).toEqual({
    planId: "try",
    dropped: [
      { resourceId: "site", path: "a.txt" },
      { resourceId: "site", path: "docs/c.txt" },
    ],
  });
  expect(changed(home)).toEqual(["b.txt", "new", "new/d.txt"]);
  const told = coffer(home, ["drop", "try", "./new"]);
  expect(told).toMatchObject({ code: 0, stdout: "" });
  expect(told.stderr).toContain("Took back 2 edits in the plan try: new, new/d.txt.");
  expect(told.stderr).toContain("coffer commit try");
  answerOf(home, ["commit", "try"]);
  expect(readFileSync(join(home.project, "site/b.txt"), "utf8")).toBe("b\nmore\n");
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("a\n");
});

test("a dot is where the user stands: a part of the resource, all of it, or nothing of it", () => {
  const home = makeHome({ ...FILES, "elsewhere/x.txt": "x\n" });
  open(home, "filesystem_copy+dir:./site");
  const at = workspace(home);
  for (const name of ["a.txt", "docs/c.txt"]) appendFileSync(join(at, name), "more\n");
  const standing = (folder: string, ...args: readonly string[]) =>
    coffer(home, [...args, "-q"], { cwd: join(home.project, folder) });
  const shown = (folder: string): string =>
    standing(folder, "diff", "try", "--name-only", "site", ".").stdout;
  expect(["", "site", "site/docs", "elsewhere"].map(shown)).toEqual([
    "a.txt\ndocs/c.txt\n",
    "a.txt\ndocs/c.txt\n",
    "docs/c.txt\n",
    "",
  ]);
  const patch = standing("site", "diff", "try", "--patch", "site", ".").stdout;
  expect(patch.match(/^\+more$/gm)).toHaveLength(2);
  expect(standing("elsewhere", "drop", "try", ".").code).not.toBe(0);
  expect(changed(home)).toEqual(["a.txt", "docs/c.txt"]);
  expect(standing("site/docs", "drop", "try", ".").code).toBe(0);
  expect(changed(home)).toEqual(["a.txt"]);
  expect(standing("site", "drop", "try", ".").code).toBe(0);
  expect(changed(home)).toEqual([]);
});

test("shows and takes back files whose names look like an address", () => {
  const home = makeHome({ ...FILES, "postgres/own.txt": "own\n" });
  open(home, "filesystem_copy+dir:./site", "filesystem_copy+dir:./postgres");
  const names = ["mysql:a=b", "mariadb:x@y"];
  for (const name of names) writeFileSync(join(workspace(home), name), "new\n");
  for (const name of names) {
    expect(coffer(home, ["diff", "try", name, "--name-only"]).stdout).toBe(`${name}\n`);
    answerOf(home, ["drop", "try", name]);
  }
  expect(changed(home)).toEqual([]);
  // What stands behind the name of a resource is a path, whatever that name is.
  const { code, stderr } = coffer(home, ["drop", "try", "postgres:id=1"]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("Nothing is changed at postgres:id=1") as string,
  });
});

test("takes both ends of a rename back, whichever is named", () => {
  const home = makeHome(FILES);
  open(home, "filesystem_copy+dir:./site");
  for (const end of ["a.txt", "moved.txt"]) {
    const at = workspace(home);
    renameSync(join(at, "a.txt"), join(at, "moved.txt"));
    expect(answerOf(home, ["drop", "try", end])).toMatchObject({
      dropped: expect.arrayContaining([
        { resourceId: "site", path: "a.txt" },
        { resourceId: "site", path: "moved.txt" },
      ]) as unknown,
    });
    expect(changed(home)).toEqual([]);
  }
});

test("asks which resource is meant where several have the path, and takes RESOURCE:PATH", () => {
  const home = makeHome({ "one/x.txt": "1\n", "two/x.txt": "2\n" });
  open(home, "filesystem_copy+dir:./one", "filesystem_copy+dir:./two");
  for (const id of ["one", "two"]) appendFileSync(join(workspace(home, id), "x.txt"), "more\n");
  expect(answerOf(home, ["drop", "try", "x.txt"], 2)).toMatchObject({ error: { code: "USAGE" } });
  expect(answerOf(home, ["drop", "try", "two:x.txt"])).toMatchObject({
    dropped: [{ resourceId: "two", path: "x.txt" }],
  });
  expect(answerOf(home, ["drop", "try", "x.txt"])).toMatchObject({
    dropped: [{ resourceId: "one", path: "x.txt" }],
  });
});

test("refuses a path without an edit, and takes nothing back then", () => {
  const home = makeHome(FILES);
  open(home, "filesystem_copy+dir:./site");
  appendFileSync(join(workspace(home), "a.txt"), "more\n");
  for (const command of [
    ["drop", "try", "a.txt", "b.txt"],
    ["resolve", "try", "b.txt", "--mine"],
  ])
    expect(answerOf(home, command, 1)).toMatchObject({
      error: {
        code: "SANDBOX_PATH",
        data: { path: "b.txt", reason: "unchanged" },
        hint: "`coffer diff try --name-only` lists what is.",
      },
    });
  expect(changed(home)).toEqual(["a.txt"]);
  expect(answerOf(home, ["drop", "try"], 2)).toMatchObject({ error: { code: "USAGE" } });
});

test.each([
  ["mine", "ours\n"],
  ["theirs", "theirs\n"],
] as const)("settles a conflict for --%s with the command that its hint shows", (how, content) => {
  const home = makeHome(FILES);
  open(home, "filesystem_copy+dir:./site");
  const real = join(home.project, "site/a.txt");
  writeFileSync(join(workspace(home), "a.txt"), "ours\n");
  writeFileSync(join(workspace(home), "b.txt"), "ours\n");
  writeFileSync(real, "theirs\n");
  const { error } = answerOf(home, ["commit", "try"], 3) as { error: { hint: string } };
  const [, words = ""] = /`coffer (resolve try a\.txt --mine)`/.exec(error.hint) ?? [];
  expect(words).not.toBe("");
  expect(error.hint).toContain("--theirs or --merge");
  const args = words.replace("--mine", `--${how}`).split(" ");
  expect(answerOf(home, args)).toEqual({
    planId: "try",
    how,
    resolved: [{ resourceId: "site", paths: ["a.txt"] }],
  });
  answerOf(home, ["commit", "try"]);
  expect(readFileSync(real, "utf8")).toBe(content);
  expect(readFileSync(join(home.project, "site/b.txt"), "utf8")).toBe("ours\n");
});

test("refuses a merge without a common ancestor, says what to do, and wants exactly one side", () => {
  const home = makeHome(FILES);
  open(home, "filesystem_copy+dir:./site");
  writeFileSync(join(workspace(home), "a.txt"), "ours\n");
  writeFileSync(join(home.project, "site/a.txt"), "theirs\n");
  expect(answerOf(home, ["resolve", "try", "a.txt", "--merge"], 3)).toMatchObject({
    error: {
      code: "SANDBOX_CONFLICT",
      data: { conflicts: [{ path: "a.txt", reason: "noAncestor" }] },
      hint: expect.stringContaining("coffer resolve try a.txt --mine") as string,
    },
  });
  for (const flags of [[], ["--mine", "--theirs"]])
    expect(answerOf(home, ["resolve", "try", "a.txt", ...flags], 2)).toMatchObject({
      error: { code: "USAGE" },
    });
});

test("merges both sides into the sandbox where the resource keeps its base", () => {
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
  const home = makeHome({
    "site/a.txt": text,
    "cofferdam.yaml":
      "resources:\n  site:\n    type: fs-directory\n    location: ./site\n    strategy: filesystem_copy\n    properties: { base: keep }\n",
  });
  open(home, "site");
  appendFileSync(join(workspace(home), "a.txt"), "bottom\n");
  writeFileSync(join(home.project, "site/a.txt"), `top\n${text}`);
  const told = coffer(home, ["resolve", "try", "a.txt", "--merge"]);
  expect(told).toMatchObject({ code: 0 });
  expect(told.stderr).toContain("coffer diff try");
  expect(readFileSync(join(workspace(home), "a.txt"), "utf8")).toBe(`top\n${text}bottom\n`);
  answerOf(home, ["commit", "try"]);
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe(`top\n${text}bottom\n`);
});

/** A home whose site is a repository, with an open plan, and a way to git in a folder. */
function openRepository(): { home: Home; git: (folder: string, ...args: string[]) => number } {
  const home = makeHome(FILES);
  rmSync(join(home.project, "site/docs"), { recursive: true });
  const git = (folder: string, ...args: string[]): number => {
    const settings = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
    return run(home, "git", ["-C", folder, ...settings, ...args]).code ?? -1;
  };
  git("site", "init", "-q", "-b", "main");
  git("site", "add", "-A");
  expect(git("site", "commit", "-qm", "first")).toBe(0);
  open(home, "git:./site");
  return { home, git };
}

function hintOf(home: Home, args: readonly string[], code: number): string {
  return (answerOf(home, args, code) as { error: { hint: string } }).error.hint;
}

test("says how a conflict with the branch is settled, by commands or by a merge in the worktree", () => {
  const { home, git } = openRepository();
  writeFileSync(join(workspace(home), "a.txt"), "ours\n");
  writeFileSync(join(home.project, "site/a.txt"), "theirs\n");
  expect(git("site", "commit", "-qam", "theirs")).toBe(0);
  const hint = hintOf(home, ["commit", "try"], 3);
  expect(hint).toContain("coffer resolve try a.txt --mine");
  // What git merges is merged already.
  expect(hint).not.toContain("--merge");
  expect(hint).toContain("by hand (`coffer shell try`)");
  const unmerged = hintOf(home, ["resolve", "try", "a.txt", "--merge"], 3);
  expect(unmerged).toContain("coffer shell try");
  expect(unmerged).not.toContain("--merge");
  git(workspace(home), "commit", "-qam", "ours");
  expect(git(workspace(home), "merge", "-q", "main")).toBe(1);
  const unresolved = hintOf(home, ["commit", "try"], 3);
  expect(unresolved).toContain("conflict markers");
  expect(unresolved).not.toContain("coffer diff");
  // Whoever only looks sees both sides, and that nobody has decided.
  expect(answerOf(home, ["diff", "try"])).toMatchObject({
    sandboxes: [
      {
        changes: [
          { path: "a.txt", notes: ["conflict that is not resolved yet: a commit refuses it"] },
        ],
      },
    ],
  });
});

test.each([
  ["the branch renamed it", ["a.txt"], "mine", "a.txt"],
  ["the branch renamed it", ["a.txt"], "theirs", "c.txt"],
  ["both renamed it", ["a.txt", "d.txt"], "mine", "d.txt"],
  ["both renamed it", ["a.txt", "d.txt"], "theirs", "c.txt"],
] as const)(
  "settles a conflict where %s with the command that its hint shows for %s --%s",
  (which, paths, how, left) => {
    const { home, git } = openRepository();
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
    writeFileSync(join(home.project, "site/a.txt"), text);
    expect(git("site", "commit", "-qam", "long")).toBe(0);
    answerOf(home, ["rollback", "try"]);
    const ours = join(workspace(home), "a.txt");
    if (which === "both renamed it") renameSync(ours, join(workspace(home), "d.txt"));
    else writeFileSync(ours, "ours\n");
    git("site", "mv", "a.txt", "c.txt");
    writeFileSync(join(home.project, "site/c.txt"), `${text}theirs\n`);
    expect(git("site", "commit", "-qam", "theirs")).toBe(0);
    const [, words = ""] =
      /`coffer (resolve try .* --mine)`/.exec(hintOf(home, ["commit", "try"], 3)) ?? [];
    expect(answerOf(home, words.replace("--mine", `--${how}`).split(" "))).toEqual({
      planId: "try",
      how,
      resolved: [{ resourceId: "site", paths }],
    });
    answerOf(home, ["commit", "try"]);
    expect(run(home, "ls", ["site"]).stdout.trim().split("\n")).toEqual([left, "b.txt"].sort());
  },
);

test("says what is in progress in the checkout, and how to end it", () => {
  const { home, git } = openRepository();
  writeFileSync(join(workspace(home), "b.txt"), "ours\n");
  for (const [branch, text] of [
    ["other", "other\n"],
    ["main", "main\n"],
  ] as const) {
    git("site", "switch", "-q", ...(branch === "other" ? ["-c"] : []), branch);
    writeFileSync(join(home.project, "site/a.txt"), text);
    expect(git("site", "commit", "-qam", branch)).toBe(0);
  }
  const patches = join(home.project, "patches");
  git("site", "format-patch", "-q", "-1", "-o", patches, "other");
  for (const [operation, ...args] of [
    ["merge", "-q", "other"],
    ["cherry-pick", "other"],
    ["rebase", "-q", "other"],
    ["rebase", "-q", "--apply", "other"],
    ["am", "-q", join(patches, "0001-other.patch")],
  ] as const) {
    expect(git("site", operation, ...args)).not.toBe(0);
    expect(hintOf(home, ["commit", "try"], 5)).toContain(`git ${operation} --abort`);
    expect(git("site", operation, "--abort")).toBe(0);
  }
  expect(coffer(home, ["commit", "try"]).code).toBe(0);
});

test("says what is in progress inside with the name of the plan, whatever is to be done with it", () => {
  const { home, git } = openRepository();
  answerOf(home, ["checkpoint", "try", "early"]);
  for (const text of ["one\n", "two\n"]) {
    writeFileSync(join(workspace(home), "a.txt"), text);
    expect(git(workspace(home), "commit", "-qam", text)).toBe(0);
  }
  const editor = "sequence.editor=sed -i 1s/pick/edit/";
  expect(git(workspace(home), "-c", editor, "rebase", "-q", "-i", "HEAD~2")).toBe(0);
  for (const [code, ...command] of [
    [5, "commit", "try"],
    [4, "checkpoint", "try"],
    [4, "restore", "try", "early"],
    [4, "fork", "try", "second"],
  ] as const) {
    const hint = hintOf(home, command, code);
    expect(hint).toContain("`coffer exec try -- git rebase --continue`");
    expect(hint).toContain("`coffer path try`");
  }
  expect(git(workspace(home), "rebase", "--continue")).toBe(0);
  answerOf(home, ["fork", "try", "second"]);
  answerOf(home, ["commit", "second"]);
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe("two\n");
});

test("points to the checkout, not to resolve, where edits there stand in the way", () => {
  const { home } = openRepository();
  writeFileSync(join(workspace(home), "a.txt"), "ours\n");
  writeFileSync(join(home.project, "site/a.txt"), "dirty\n");
  const hint = hintOf(home, ["commit", "try"], 3);
  expect(hint).toContain("stash");
  expect(hint).not.toContain("resolve");
});

test("merges what a command did with what others did to the file after it", () => {
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
  const home = makeHome({ "site/a.txt": text });
  const args = [
    "-p",
    "try",
    "-r",
    "./site",
    "--keep",
    "--",
    "sh",
    "-c",
    "echo bottom >> site/a.txt",
  ];
  expect(coffer(home, ["run", ...args])).toMatchObject({ code: 0 });
  writeFileSync(join(home.project, "site/a.txt"), `top\n${text}`);
  answerOf(home, ["commit", "try"], 3);
  answerOf(home, ["resolve", "try", "a.txt", "--merge"]);
  answerOf(home, ["commit", "try"]);
  expect(readFileSync(join(home.project, "site/a.txt"), "utf8")).toBe(`top\n${text}bottom\n`);
});
