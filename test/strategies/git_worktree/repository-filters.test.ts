import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxCommitError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";
import { useHome } from "./home.ts";

const FILTER =
  "git config filter.enc.clean base64; git config filter.enc.smudge 'base64 -d'; git config filter.enc.required true";
const ATTRIBUTES = "echo '*.sec filter=enc' > .gitattributes";

/** Whether any object of the repository has this content, reachable or not. */
function isStored(root: string, content: string): boolean {
  const id = shell(root, `printf '%s' '${content}' | git hash-object --stdin`).trim();
  return shell(root, `git cat-file -e ${id} 2> /dev/null && echo yes || echo no`) === "yes\n";
}

test.each([
  ["added", "printf TOPSECRET > new.sec", ["new.sec"]],
  ["modified", "printf TOPSECRET > old.sec", ["old.sec"]],
  ["renamed to", "git mv b.txt 'odd name.sec'", ["odd name.sec"]],
  [
    "given the filter by an attribute that is new, in a folder of its own",
    "mkdir sub; printf 'x filter=enc' > sub/.gitattributes; printf TOPSECRET > sub/x",
    ["sub/x"],
  ],
  [
    "committed inside with git, which did run it",
    "printf TOPSECRET > new.sec; git add new.sec; git commit -qm inside",
    ["new.sec"],
  ],
])(
  "a file under a filter of the repository's own configuration is never committed unfiltered: %s (R58, R239)",
  async (_name, edit, paths) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, `${FILTER}; ${ATTRIBUTES}; printf secret > old.sec; git add -A; git commit -qm a`);
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, `${edit}; echo edited > a.txt`);
    const [files, state, held] = [filesOf(root), gitState(root), filesOf(worktree)];
    const attempt = sandbox.commit();
    await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
    await expect(attempt).rejects.toMatchObject({
      data: { reason: "filter", failedPath: paths[0], paths, originalRestored: true },
    });
    expectOracleEqual(files, filesOf(root));
    expect(gitState(root)).toBe(state);
    expectOracleEqual(held, filesOf(worktree));
    expect(isStored(root, "TOPSECRET")).toBe(false);
    await sandbox.drop(paths);
    await sandbox.commit();
    expect(git(root, "show", "HEAD:a.txt")).toBe("edited");
  },
);

test("an attribute that the branch got meanwhile counts as well (R239)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("new.sec", "TOPSECRET");
  shell(root, `${FILTER}; ${ATTRIBUTES}; git add -A; git commit -qm attributes`);
  const state = gitState(root);
  await expect(bench.sandbox.commit()).rejects.toMatchObject({ data: { reason: "filter" } });
  expect(gitState(root)).toBe(state);
  expect(existsSync(join(root, "new.sec"))).toBe(false);
});

test("filters that are defined nowhere, links and removals need none to run", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, `${FILTER}; echo x > plain; git add -A; git commit -qm a`);
  await using bench = await openGit(checkout);
  shell(
    await bench.sandbox.getPath(),
    "echo '* filter=nowhere' > .gitattributes; echo '*.sec filter=enc' >> .gitattributes; echo n > n; ln -s n l.sec; rm plain",
  );
  await bench.sandbox.commit();
  expect(git(root, "show", "HEAD:n")).toBe("n");
  expect(git(root, "show", "HEAD:l.sec")).toBe("n");
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a filter of the user's own settings runs, unless the repository defines it in another way", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  useHome(folder, "git config --global filter.enc.clean 'tr a-z A-Z'");
  shell(
    root,
    `git config filter.enc.clean 'tr a-z A-Z'; ${ATTRIBUTES}; git add -A; git commit -qm a`,
  );
  await using bench = await openGit(checkout);
  await bench.sandbox.write("new.sec", "text\n");
  shell(root, "git config filter.enc.clean base64");
  await expect(bench.sandbox.commit()).rejects.toMatchObject({ data: { reason: "filter" } });
  shell(root, "git config filter.enc.clean 'tr a-z A-Z'");
  await bench.sandbox.commit();
  expect(git(root, "show", "HEAD:new.sec")).toBe("TEXT");
});
