import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type SandboxRef, openCofferdam } from "../../../src/index.ts";
import type { Order } from "../../faults/order.ts";
import type { TracedProgram } from "../../support/faults.ts";
import { type Oracle, expectOracleEqual, oracleDifferences } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { type Checkout, filesOf, git, knownOf, makeCheckout } from "./checkout.ts";

/** The program that makes one call. */
const PROGRAM = new URL("../../faults/programs/operate.ts", import.meta.url);

/** What a user has in the checkout while the sandbox commits. */
const WORK = `
  echo staged > staged; git add staged; echo unstaged >> tool; echo u > untracked; echo t > x.tmp
`;

const OURS =
  "echo edited > a.txt; rm -r src; mkdir n; echo n > n/n; ln -sfn b.txt link; chmod 755 b.txt";

/** A checkout with a sandbox whose operation is going to be disturbed. */
export interface Interrupted extends TracedProgram, Checkout {
  readonly ref: SandboxRef;
  /** Files, index and commit before the commit of the sandbox, and after. */
  readonly old: CheckoutState;
  readonly fresh: CheckoutState;
}

interface CheckoutState {
  readonly files: Oracle;
  readonly index: string;
  readonly tree: string;
  readonly status: string;
}

/** Lets git write files of the commit anew, as it does when branches are switched. */
export const ANEW = "rm -r a.txt n link; git checkout -q a.txt n link";

/**
 * Makes a checkout with work of the user in it, and a sandbox that is about to commit or to be undone; `afterwards` is
 * done in the checkout after the commit.
 */
export async function interrupt(
  operation: "commit" | "undoCommit",
  afterwards = "true",
): Promise<Interrupted> {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  shell(root, WORK);
  // Otherwise the ids of commits, which have the time in them, would decide how many folders are made.
  shell(root, 'for n in $(seq 0 255); do mkdir -p ".git/objects/$(printf %02x "$n")"; done');
  const state = join(folder, "state");
  const old = stateOf(root);
  await using coffer = await openCofferdam({ stateDirectory: state, config: false });
  const ref = await coffer.create("plan", {
    resourceId: "r",
    type: "git-repository",
    location: root,
  });
  const sandbox = coffer.sandbox(ref);
  shell(await sandbox.getPath(), OURS);
  // What an undisturbed commit makes of the checkout.
  await sandbox.commit({ message: "edits" });
  shell(root, afterwards);
  const fresh = stateOf(root);
  if (operation === "commit") {
    await sandbox.undoCommit();
    expect(differences(old, stateOf(root))).toEqual([]);
  }
  const order: Order = { state, operation, ref };
  return {
    ...checkout,
    ref,
    old,
    fresh,
    program: PROGRAM,
    args: [JSON.stringify(order)],
    touching: [folder],
  };
}

/** A checkout of which a sandbox is about to be made. */
export interface InterruptedCreation extends TracedProgram, Checkout {
  readonly files: Oracle;
  readonly known: string;
}

/** Makes a checkout and names the program that makes a sandbox of it. */
export function interruptCreation(): InterruptedCreation {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const order: Order = {
    state: join(folder, "state"),
    operation: "create",
    planId: "plan",
    resource: { resourceId: "r", type: "git-repository", location: root },
    strategy: "git_worktree",
  };
  return {
    ...checkout,
    files: filesOf(root),
    known: knownOf(root),
    program: PROGRAM,
    args: [JSON.stringify(order)],
    touching: [root],
  };
}

/** Opens the state again, which recovers it, and finds all old or all new, with nothing left over. */
export async function expectWhole(interrupted: Interrupted): Promise<"old" | "new"> {
  const { root, folder, ref, old, fresh } = interrupted;
  await using coffer = await openCofferdam({
    stateDirectory: join(folder, "state"),
    config: false,
  });
  expect(coffer.opening.recovery ?? { complete: true }).toMatchObject({ complete: true });
  const status = await coffer.status(ref);
  const sandbox = coffer.sandbox(ref);
  const present = stateOf(root);
  const isNew = status === "COMMITTED";
  expect(differences(isNew ? fresh : old, present)).toEqual([]);
  if (!isNew) expect(status).toBe("ACTIVE");
  git(root, "fsck", "--strict");
  expectNoTraces(root);
  // Everything can go on from here.
  if (isNew) await sandbox.undoCommit();
  expect(differences(old, stateOf(root))).toEqual([]);
  await sandbox.commit({ message: "edits" });
  expect(differences(fresh, stateOf(root))).toEqual([]);
  await sandbox.rollback();
  expectOracleEqual(old.files, filesOf(root));
  await sandbox.cleanup();
  expect(git(root, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  expect(existsSync(join(root, ".git/worktrees"))).toBe(false);
  return isNew ? "new" : "old";
}

/** No merge is in progress and nobody holds a lock. */
export function expectNoTraces(root: string): void {
  const left = "-name '*.lock' -o -name 'cofferdam-*.*' -o -name '*_HEAD' -o -name 'rebase-*'";
  expect(shell(root, `find .git ${left}`)).toBe("");
}

function stateOf(root: string): CheckoutState {
  return {
    files: filesOf(root),
    index: git(root, "ls-files", "-s"),
    tree: git(root, "rev-parse", "HEAD^{tree}"),
    status: git(root, "status", "--porcelain=v2", "--untracked-files=all"),
  };
}

/** Times of what the commit makes are those of the moment. */
function differences(expected: CheckoutState, found: CheckoutState): string[] {
  const told = oracleDifferences(expected.files, found.files, { ignore: ["mtimes"] });
  for (const part of ["index", "tree", "status"] as const) {
    if (expected[part] !== found[part]) told.push(`${part}: ${expected[part]} -> ${found[part]}`);
  }
  return told;
}
