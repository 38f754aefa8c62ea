import { describe, expect, test } from "vitest";
import { SandboxConflictError, SandboxPathError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { type Checkout, git, gitState, makeCheckout, openGit } from "./checkout.ts";

/** A checkout with a file that is long enough to be known again after an edit. */
function makeLong(): Checkout {
  const checkout = makeCheckout();
  shell(checkout.root, "seq 1 30 > list; seq 40 90 > other-list; git add -A; git commit -qm list");
  return checkout;
}

const edit = (line: string, file: string): string => `sed -i 's/^5$/${line}/' ${file}`;

/** What the files of a checkout are that began as `list`, by their fifth lines. */
const fifths = (root: string): string =>
  shell(root, "for f in list moved other; do [ ! -e $f ] || echo $f $(sed -n 5p $f); done");

interface Case {
  readonly ours: string;
  readonly theirs: string;
  /** The paths that the conflict is told at, each of which the diff has. */
  readonly told: readonly string[];
  /** Whatever may be given to settle it. */
  readonly names: readonly string[];
  readonly mine: string;
  readonly yielded: string;
}

const CASES: Readonly<Record<string, Case>> = {
  "the sandbox renamed what the branch edited": {
    ours: `git mv list moved; ${edit("ours", "moved")}`,
    theirs: edit("theirs", "list"),
    told: ["moved"],
    names: ["list", "moved"],
    mine: "moved ours\n",
    yielded: "list theirs\n",
  },
  "the branch renamed what the sandbox edited": {
    ours: edit("ours", "list"),
    theirs: `git mv list moved; ${edit("theirs", "moved")}`,
    told: ["list"],
    names: ["list", "moved"],
    mine: "list ours\n",
    yielded: "moved theirs\n",
  },
  "both renamed it, each to a name of its own": {
    ours: "git mv list moved",
    theirs: "git mv list other",
    told: ["list", "moved"],
    names: ["list", "moved", "other"],
    mine: "moved 5\n",
    yielded: "other 5\n",
  },
  "the sandbox renamed what the branch deleted": {
    ours: `mv list moved; ${edit("ours", "moved")}`,
    theirs: "git rm -q list",
    told: ["moved"],
    names: ["list", "moved"],
    mine: "moved ours\n",
    yielded: "",
  },
  "the branch renamed what the sandbox deleted": {
    ours: "rm list",
    theirs: `git mv list moved; ${edit("theirs", "moved")}`,
    told: ["list"],
    names: ["list", "moved"],
    mine: "",
    yielded: "moved theirs\n",
  },
  "both gave one name to different files": {
    ours: `git mv list moved; ${edit("ours", "moved")}`,
    theirs: "git mv other-list moved",
    told: ["moved"],
    names: ["list", "moved", "other-list"],
    mine: "moved ours\n",
    yielded: "list 5\nmoved 44\n",
  },
};

const each = Object.entries(CASES).flatMap(([what, one]) =>
  one.names.flatMap((name) =>
    (["mine", "theirs"] as const).map((how) => [how, name, what, one] as const),
  ),
);

test.each(each)(
  "settles for %s by the name %s, where %s (R53)",
  async (how, name, _what, { ours, theirs, told, mine, yielded }) => {
    const checkout = makeLong();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    shell(await sandbox.getPath(), `${ours}; echo ours > b.txt`);
    shell(root, `${theirs}; echo theirs > docs/page; git add -A; git commit -qm theirs`);
    const failure = await sandbox.commit().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SandboxConflictError);
    const { conflicts } = (failure as SandboxConflictError).data;
    expect(conflicts.map(({ path }) => path).sort()).toEqual(told);
    const edited = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(edited).toEqual(expect.arrayContaining([...told]));
    await sandbox.resolve([name], how);
    await sandbox.commit();
    expect(fifths(root)).toBe(how === "mine" ? mine : yielded);
    expect(shell(root, "cat b.txt docs/page; git status --porcelain")).toBe("ours\ntheirs\n");
    git(root, "fsck", "--strict");
  },
);

test("a conflict of names alone is told as such, by a commit and by a merge that cannot be", async () => {
  const checkout = makeLong();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "git mv list moved");
  shell(checkout.root, "git mv list other; git commit -qm theirs");
  const told = /^The branch renamed what the sandbox renamed: /;
  await expect(sandbox.commit()).rejects.toThrow(told);
  await expect(sandbox.resolve(["list"], "merge")).rejects.toThrow(told);
});

test("a settled rename is in conflict again as a whole when the branch changes a part of it later", async () => {
  const checkout = makeLong();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), edit("ours", "list"));
  shell(root, `git mv list moved; ${edit("theirs", "moved")}; git commit -qam theirs`);
  await sandbox.resolve(["list"], "mine");
  shell(root, "sed -i s/theirs/later/ moved; git commit -qam later");
  const before = gitState(root);
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  expect(gitState(root)).toBe(before);
  await sandbox.resolve(["list"], "mine");
  await sandbox.commit();
  expect(fifths(root)).toBe("list ours\n");
});

test("dropping one end of a settled rename unsettles the other", async () => {
  const checkout = makeLong();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), `git mv list moved; ${edit("ours", "moved")}`);
  shell(checkout.root, `${edit("theirs", "list")}; git commit -qam theirs`);
  await sandbox.resolve(["moved"], "mine");
  await sandbox.drop(["moved"]);
  await expect(sandbox.commit()).rejects.toMatchObject({
    data: { reason: "merge", conflicts: [{ path: "list" }] },
  });
});

test("other renames are still followed after one was settled, and what is neither edited nor in conflict is refused", async () => {
  const checkout = makeLong();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const ours = `git mv list moved; ${edit("ours", "moved")}; git mv other-list renamed`;
  shell(await sandbox.getPath(), ours);
  shell(
    root,
    `${edit("theirs", "list")}; sed -i s/^45$/theirs/ other-list; git commit -qam theirs`,
  );
  await expect(sandbox.resolve(["moved", "a.txt"], "mine")).rejects.toBeInstanceOf(
    SandboxPathError,
  );
  await sandbox.resolve(["moved"], "mine");
  await sandbox.commit();
  expect(fifths(root)).toBe("moved ours\n");
  expect(shell(root, "grep -c theirs renamed; ls other-list 2> /dev/null || echo gone")).toBe(
    "1\ngone\n",
  );
});

describe("files that are like each other", () => {
  const START =
    "seq 0 39 > f0; seq 2 41 > f2; seq 40 > b; (echo extra; seq 40) > c; git add -A; git commit -qm start";
  const numbered = (root: string, ...names: readonly string[]): string =>
    shell(root, `grep -nE '[a-zA-Z]{4}' ${names.join(" ")} /dev/null 2> /dev/null || true`);

  test.each(["f2", "f0t", "."])(
    "a file that the branch renamed is kept when another one is settled, by the name %s (R53, R56)",
    async (name) => {
      const checkout = makeCheckout();
      const { root } = checkout;
      shell(root, START);
      await using bench = await openGit(checkout);
      const { sandbox } = bench;
      shell(await sandbox.getPath(), "sed -i s/^41$/mine/ f2");
      shell(root, "git rm -q f2; git mv f0 f0t; sed -i s/^34$/theirs/ f0t; git commit -qam theirs");
      await expect(sandbox.commit()).rejects.toMatchObject({
        data: { conflicts: [{ path: "f2" }] },
      });
      await sandbox.resolve([name], "mine");
      expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual(["f2"]);
      await sandbox.commit();
      expect(shell(root, "ls f*; git status --porcelain")).toBe("f0t\nf2\n");
      expect(numbered(root, "f0t", "f2")).toBe("f0t:35:theirs\nf2:40:mine\n");
    },
  );

  test("what the branch edited goes where the sandbox renamed it to, whatever else is settled (R53, R56)", async () => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, START);
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    shell(
      await sandbox.getPath(),
      "git mv b b2; sed -i 's/^5$/five/;s/^6$/sixth/;s/^7$/seven/' b2; sed -i s/^20$/mine/ c",
    );
    shell(root, "sed -i s/^35$/theirs/ b; git rm -q c; git commit -qam theirs");
    await sandbox.resolve(["c"], "mine");
    await sandbox.commit();
    expect(numbered(root, "b2", "c")).toBe(
      "b2:5:five\nb2:6:sixth\nb2:7:seven\nb2:35:theirs\nc:1:extra\nc:21:mine\n",
    );
    expect(shell(root, "ls b* c; git status --porcelain")).toBe("b.txt\nb2\nc\n");
  });

  test.each(["f2", "f2m", "f1t", "."])(
    "a file that the branch renamed is kept beside one that git takes for renamed twice, by the name %s (R53, R56)",
    async (name) => {
      const checkout = makeCheckout();
      const { root } = checkout;
      shell(root, "seq 1 40 > f1; seq 2 41 > f2; git add -A; git commit -qm start");
      await using bench = await openGit(checkout);
      const { sandbox } = bench;
      shell(await sandbox.getPath(), "git mv f2 f2m");
      shell(root, "git mv f1 f1t; sed -i s/^20$/theirs/ f1t; git rm -q f2; git commit -qam theirs");
      await expect(sandbox.commit()).rejects.toMatchObject({
        data: { conflicts: [{ path: "f2" }, { path: "f2m" }] },
      });
      await sandbox.resolve([name], "mine");
      await sandbox.commit();
      expect(shell(root, "ls f*; git status --porcelain")).toBe("f1t\nf2m\n");
      expect(numbered(root, "f1t", "f2m")).toBe("f1t:20:theirs\n");
    },
  );

  const SIDES = [
    ["rename", "mine"],
    ["edited", "mine"],
    ["deleted", "theirs"],
  ] as const;
  test.each([
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ])("are settled in any order: %i, %i, %i (R53)", async (...order) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(
      root,
      "seq 11 41 > renamed; seq 13 43 > edited; seq 15 45 > deleted; git add -A; git commit -qm start",
    );
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    shell(await sandbox.getPath(), "git mv renamed rename; echo mine >> edited; git rm -q deleted");
    shell(
      root,
      "git mv renamed other; git rm -q edited; echo theirs >> deleted; git commit -qam theirs",
    );
    await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
    for (const at of order) {
      const [path, how] = SIDES[at]!;
      await sandbox.resolve([path], how);
    }
    await sandbox.commit();
    const names = "deleted edited other rename renamed";
    expect(shell(root, `ls ${names} 2> /dev/null || true; git status --porcelain`)).toBe(
      "deleted\nedited\nrename\n",
    );
    expect(numbered(root, "deleted", "edited")).toBe("deleted:32:theirs\nedited:32:mine\n");
  });
});
