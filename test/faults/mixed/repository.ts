import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { git } from "../../strategies/git_worktree/checkout.ts";
import { run, shell } from "../../strategies/shell.ts";
import { type Oracle, oracleDifferences, takeOracle } from "../../support/oracle.ts";
import type { Ground } from "../ground.ts";
import type { TreeState } from "../tree.ts";
import type { WorldMember } from "./member.ts";

// Ids of commits differ in every run: with all folders for objects there, the calls that write them are the same.
const MAKE = `
  git init -q -b main .; git config user.name Tess; git config user.email tess@example.invalid
  mkdir -p src/deep; printf 'one\\ntwo\\n' > a.txt; printf 'b\\n' > b.txt; printf 'gone\\n' > src/gone
  printf 'deep\\n' > src/deep/leaf; printf '#!/bin/sh\\n' > tool; ln -s a.txt link
  printf '*.tmp\\n' > .gitignore; git add -A; git commit -qm first; git tag -am kept v1
  cd .git/objects; printf '%02x\\n' $(seq 0 255) | xargs mkdir -p
`;

/** What the user has in the checkout meanwhile: nobody may touch it. */
const WORK = `
  echo staged > staged; git add staged; echo unstaged >> tool; echo u > untracked; echo t > x.tmp
`;

const EDITS = {
  edited: `echo edited > a.txt; rm -r src; mkdir n; echo n > n/n; ln -sfn b.txt link; chmod 755 b.txt`,
  later: `echo later > a.txt; rm n/n; echo more > n/m`,
} as const;

/** What git and other programs say about a checkout; times are those of the moment. */
interface CheckoutState {
  readonly files: Oracle;
  readonly facts: ReadonlyMap<string, string>;
}

/** A repository in which somebody else may be at work. */
export interface RepositoryMember extends WorldMember {
  /** In which state it is when somebody has done this meanwhile, whichever of both came first. */
  readonly stateBeside: (script: string) => (ground: Ground) => TreeState;
}

/**
 * A git repository with work of its user in the checkout; the template of it is made below a folder. It lies in a folder
 * of the ground, which may be on another device.
 */
export function repository(folder: string, below = "."): RepositoryMember {
  const placeOf = (ground: Ground): string => placeBelow(ground, below);
  const [plain, worked] = [join(folder, "plain"), join(folder, "worked")];
  mkdirSync(plain);
  shell(plain, MAKE);
  const tip = git(plain, "rev-parse", "HEAD");
  const copyOf = (from: string, name: string, script: string): string => {
    execFileSync("cp", ["-a", from, join(folder, name)]);
    shell(join(folder, name), script);
    return join(folder, name);
  };
  // What git itself makes of the same edits.
  const committed = copyOf(plain, "committed", `${EDITS.edited}; git add -A; git commit -qm edits`);
  const real = {
    old: checkoutState(copyOf(plain, "worked", WORK), tip),
    edited: checkoutState(copyOf(committed, "new", WORK), tip),
  };
  const later = copyOf(committed, "later", EDITS.later);
  const inSandbox = {
    old: filesOf(plain),
    edited: filesOf(committed),
    later: filesOf(later),
  };
  return {
    id: "git",
    make: (ground) => {
      mkdirSync(dirname(placeOf(ground)));
      execFileSync("cp", ["-a", worked, placeOf(ground)]);
    },
    resource: (ground) => ({ type: "git-repository", location: placeOf(ground) }),
    edit: async (sandbox, to) => shell(await sandbox.getPath(), EDITS[to]),
    stateOf: (ground) => {
      const now = checkoutState(placeOf(ground), tip);
      return matching(real, (expected) => differences(expected, now));
    },
    stateOfSandbox: async (_ground, sandbox) => {
      const now = filesOf(await sandbox.getPath());
      return matching(inSandbox, (expected) => fileDifferences(expected, now));
    },
    stateBeside: (script) => {
      const beside = mkdtempSync(join(folder, "beside-"));
      const expected = {
        old: checkoutState(copyOf(worked, `${basename(beside)}/old`, script), null),
        edited: checkoutState(copyOf(join(folder, "new"), `${basename(beside)}/new`, script), null),
      };
      return (ground) => {
        const now = checkoutState(placeOf(ground), null);
        return matching(expected, (wanted) => differences(wanted, now));
      };
    },
    unsettled: (ground) => unsettledIn(placeOf(ground)),
    leftovers: (ground) => leftIn(placeOf(ground)),
  };
}

/** Where the checkout lies on a ground, unless told otherwise. */
export function placeOf(ground: Pick<Ground, "folder">): string {
  return placeBelow(ground, ".");
}

function placeBelow({ folder }: Pick<Ground, "folder">, below: string): string {
  return join(folder, below, "repository/real");
}

/** Commits are counted from the tip before; without one it does not matter in which order they came. */
function checkoutState(root: string, tip: string | null): CheckoutState {
  const said = look(root, tip ?? "HEAD").split("\n--\n");
  const facts = new Map(FACTS.map(([name], at) => [name, said[at] ?? ""]));
  return { files: filesOf(root), facts };
}

/** What is asked of git, each with a name; `$1` is the commit before. */
const FACTS = [
  ["branch", "git symbolic-ref HEAD"],
  ["commits since", 'git rev-list --parents "$1..HEAD" | cut -d" " -f2-'],
  ["tree", 'git rev-parse "HEAD^{tree}"'],
  ["index", "git ls-files -s"],
  ["status", "git status --porcelain=v2 --untracked-files=all"],
  [
    "refs",
    'git for-each-ref --format="%(refname) %(objecttype)" | grep -v "^refs/\\(heads/cofferdam-\\|cofferdam/\\)"',
  ],
  ["stashes", "git stash list"],
  ["objects", "git fsck --strict --no-dangling --no-progress"],
] as const;

/** Asks all of it without taking a lock or writing anything, as a user's prompt would. */
function look(root: string, tip: string): string {
  const commands = FACTS.map(([, command]) => command);
  const script = `set -eu; export GIT_OPTIONAL_LOCKS=0; ${commands.join("; echo; echo --; ")}`;
  return run("sh", ["-c", script, "sh", tip], root);
}

function filesOf(root: string): Oracle {
  return takeOracle(root, { exclude: [".git"] });
}

function fileDifferences(expected: Oracle, now: Oracle): string[] {
  return oracleDifferences(expected, now, { ignore: ["mtimes"] });
}

function differences(expected: CheckoutState, now: CheckoutState): string[] {
  const facts = [...expected.facts].flatMap(([name, fact]) =>
    now.facts.get(name) === fact ? [] : [`${name}: ${fact} -> ${now.facts.get(name)}`],
  );
  return [...fileDifferences(expected.files, now.files), ...facts];
}

function matching<State extends TreeState, T>(
  states: Readonly<Record<State, T>>,
  differencesFrom: (expected: T) => readonly string[],
): State {
  const told: string[] = [];
  for (const [state, expected] of Object.entries(states) as [State, T][]) {
    const found = differencesFrom(expected);
    if (found.length === 0) return state;
    told.push(`  not ${state}: ${found.join("; ")}`);
  }
  throw new Error(`the repository is a mixture:\n${told.join("\n")}`);
}

/** Locks, and what is in the middle of a merge or of a transaction of ours. */
function unsettledIn(root: string): string[] {
  const names = "-name '*.lock' -o -name 'cofferdam-*.*' -o -name '*_HEAD' -o -name 'rebase-*'";
  return shell(root, `find .git ${names}`)
    .split("\n")
    .filter((line) => line !== "");
}

/** Whatever the repository knows of sandboxes. */
function leftIn(root: string): string[] {
  const refs = git(root, "for-each-ref", "--format=%(refname)").split("\n");
  const own = shell(root, "find .git -name '*cofferdam*'").split("\n");
  return [
    ...unsettledIn(root),
    ...refs.filter((ref) => !["refs/heads/main", "refs/tags/v1"].includes(ref)),
    ...own.filter((line) => line !== ""),
    ...(existsSync(join(root, ".git/worktrees")) ? [".git/worktrees"] : []),
  ];
}
