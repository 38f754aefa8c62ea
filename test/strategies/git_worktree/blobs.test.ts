import { expect, it } from "vitest";
import type { StrategyHost } from "../../../src/contract/host.ts";
import type { RelativePath } from "../../../src/model/byte-path.ts";
import { Blobs } from "../../../src/strategies/git_worktree/blobs.ts";
import { Git } from "../../../src/strategies/git_worktree/git.ts";
import { binariesAmong } from "../../../src/strategies/git_worktree/merge-rules.ts";
import { hostsBelow } from "../../fixtures/strategies/test-host.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../shell.ts";
import { git, makeCheckout } from "./checkout.ts";

const MOST = 1 << 20;

/** The real git, which may write a MiB where else it may write a GiB. */
function limitedGit(): Git {
  const host = hostsBelow(tempFolder())("git_worktree");
  const run: StrategyHost["run"] = (program, args, options) =>
    host.run(program, args, { ...options, maxOutputBytes: MOST });
  return new Git({ ...host, run });
}

/** A checkout with files that are too much for one call, and the entries of git for them. */
function makeMany(script: string): {
  readonly root: string;
  readonly entries: readonly { mode: string; oid: string; path: RelativePath }[];
} {
  const { root } = makeCheckout();
  shell(root, `mkdir many; cd many; ${script}; git add .; git commit -qm many`);
  const lines = git(root, "ls-files", "-s", "many").split("\n");
  const entries = lines.map((line) => {
    const [, mode = "", oid = "", path = ""] = /^(\d+) (\w+) \d\t(.*)$/.exec(line) ?? [];
    return { mode, oid, path: path as RelativePath };
  });
  return { root, entries };
}

it("describes files that together are more than git may write at once, also after their conversion", async () => {
  const { root, entries } = makeMany(
    `for n in 1 2 3 4 5; do { echo $n; head -c 400000 /dev/zero; } > $n; done
     yes x | head -c 600000 > crlf; echo 'crlf text eol=crlf' > .gitattributes`,
  );
  shell(root, "rm many/crlf; git checkout -q many/crlf");
  const facts = await new Blobs(limitedGit(), { cwd: root }).describe(entries);
  const sums = [...facts].map(([path, { hash }]) => `${hash}  ${path}\n`);
  expect(facts.size).toBe(7);
  expect(sums.join("")).toBe(shell(root, "git ls-files -z many | xargs -0 sha256sum"));
});

it("names a file that is too large to be described", async () => {
  const { root, entries } = makeMany("echo x > small; head -c 2000000 /dev/zero > large");
  const describing = new Blobs(limitedGit(), { cwd: root }).describe(entries);
  await expect(describing).rejects.toMatchObject({
    message: expect.stringContaining("many/large") as string,
  });
});

it("finds files of bytes among those that together are more than git may write at once", async () => {
  const { root, entries } = makeMany(
    `for n in 1 2 3 4; do yes $n | head -c 400000 > text$n; head -c 400000 /dev/zero > bytes$n; echo $n >> bytes$n; done
     echo small > text; { yes x | head -c 9000; printf '\\0'; } > text-at-its-beginning; yes x | head -c 2000000 > unreadable`,
  );
  const found = await binariesAmong(limitedGit(), { cwd: root }, entries);
  const names = entries.flatMap(({ oid, path }) => (found.has(oid) ? [path.slice(5)] : []));
  expect(names).toEqual(["bytes1", "bytes2", "bytes3", "bytes4", "unreadable"]);
});
