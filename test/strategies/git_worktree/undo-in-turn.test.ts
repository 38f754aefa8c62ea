import { expect, test } from "vitest";
import type { Sandbox } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { type Checkout, filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";

const P =
  "echo PPPP > a.txt; echo p > src/gone; rm docs/page; echo new > new; ln -sfn p link; chmod 755 b.txt";
const Q =
  "echo QQ > a.txt; rm src/gone; mkdir docs; echo q > docs/page; mv new other; ln -sfn q link; rm b.txt";

/** Two plans that changed the same paths of a checkout, one after the other. */
async function commitTwice(
  checkout: Checkout,
  between = "true",
): Promise<AsyncDisposable & { p: Sandbox; q: Sandbox }> {
  const bench = await openGit(checkout);
  const { coffer, sandbox: p } = bench;
  shell(await p.getPath(), P);
  await p.commit({ message: "p" });
  shell(checkout.root, between);
  const resource = { resourceId: "r", type: "git-repository", location: checkout.root };
  const q = coffer.sandbox(await coffer.create("q", resource, { strategy: "git_worktree" }));
  shell(await q.getPath(), Q);
  await q.commit({ message: "q" });
  return {
    p,
    q,
    async [Symbol.asyncDispose]() {
      await q.cleanup({ force: true });
      await bench[Symbol.asyncDispose]();
    },
  };
}

test("two commits over the same files are taken back, the last one first (R49)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const [files, tip] = [filesOf(root), git(root, "rev-parse", "main")];
  await using both = await commitTwice(checkout);
  await both.q.rollback();
  expect(git(root, "log", "-1", "--format=%s")).toBe("p");
  await both.p.rollback();
  expect(git(root, "rev-parse", "main")).toBe(tip);
  expect(git(root, "status", "--porcelain")).toBe("");
  expectOracleEqual(files, filesOf(root));
});

test("an edit of the same size and time is found after a later commit came and went (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using both = await commitTwice(checkout);
  await both.q.rollback();
  shell(root, "touch -r a.txt ../time; printf 'XXXX\\n' > a.txt; touch -r ../time a.txt");
  const [files, state] = [filesOf(root), gitState(root)];
  await expect(both.p.rollback()).rejects.toMatchObject({
    data: { reason: "foreignEdits", paths: ["a.txt"] },
  });
  expectOracleEqual(files, filesOf(root));
  expect(gitState(root)).toBe(state);
});
