import { expect, test } from "vitest";
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
