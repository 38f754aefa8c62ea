import { join } from "node:path";
import { type Oracle, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { run, shell } from "../shell.ts";
import { type Bench, type BenchOptions, type Subject, openBench } from "../subjects.ts";

/** The strategy under test. */
export const GIT: Subject = { name: "git_worktree", strategy: "git_worktree" };

/** A real repository with a checkout, in a folder of its own. */
export interface Checkout {
  /** Everything of the test lies here. */
  readonly folder: string;
  /** The user's checkout. */
  readonly root: string;
}

const IDENTITY = "git config user.name Tess; git config user.email tess@example.invalid";

const FILES = `
  mkdir -p src/deep docs
  printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' > a.txt; printf 'b\\n' > b.txt; printf 'gone\\n' > src/gone
  printf 'deep\\n' > src/deep/leaf; printf '#!/bin/sh\\n' > tool; chmod 755 tool
  ln -s a.txt link; printf 'text\\n' > docs/page; printf 'moved along\\n' > old-name
  printf 'ignored/\\n*.tmp\\n.env\\n' > .gitignore
`;

/** Makes a repository with one commit on `main`. */
export function makeCheckout(initialise = "git init -q -b main ."): Checkout {
  const folder = tempFolder();
  const root = join(folder, "real");
  shell(
    folder,
    `mkdir real; cd real; ${initialise}; ${IDENTITY}; ${FILES} git add -A; git commit -qm first`,
  );
  return { folder, root };
}

/** Makes a sandbox of a checkout. */
export function openGit(checkout: Checkout, options: BenchOptions = {}): Promise<Bench> {
  const { folder, root } = checkout;
  return openBench(GIT, root, join(folder, "state"), { type: "git-repository", ...options });
}

/** Runs git in a folder and gives its words without the last newline. */
export function git(cwd: string, ...args: readonly string[]): string {
  return run("git", args, cwd).replace(/\n$/, "");
}

/** What git itself says about a checkout; equal answers mean that nothing of it moved. */
export function gitState(root: string): string {
  return [
    git(root, "rev-parse", "HEAD"),
    git(root, "symbolic-ref", "-q", "--short", "HEAD"),
    git(root, "status", "--porcelain=v2", "--branch"),
    git(root, "ls-files", "-s"),
    git(root, "stash", "list"),
    git(root, "for-each-ref"),
  ].join("\n--\n");
}

/** The files of a checkout as other programs see them, without what belongs to git. */
export function filesOf(root: string): Oracle {
  return takeOracle(root, { exclude: [".git"] });
}

/** Everything that a repository knows of worktrees and refs. */
export function knownOf(root: string): string {
  const worktrees = shell(root, "ls .git/worktrees 2> /dev/null || true");
  return [git(root, "worktree", "list"), git(root, "for-each-ref"), worktrees].join("\n--\n");
}

/** Edits of every kind, made by other programs. */
export const EDITS = `
  printf 'ONE\\ntwo\\nthree\\nfour\\nfive\\n' > a.txt
  printf 'fresh\\n' > new.txt; mkdir -p made/deep; printf 'x\\n' > made/deep/file
  rm -r src; chmod 755 b.txt; ln -sfn b.txt link; mv old-name new-name
  rm docs/page; rmdir docs; printf 'now a file\\n' > docs
`;
