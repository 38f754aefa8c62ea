import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { StrategyHost } from "../../../src/contract/host.ts";
import type { RelativePath } from "../../../src/model/byte-path.ts";
import { BlobsInTurn, type SizedFile } from "../../../src/strategies/git_worktree/blobs-in-turn.ts";
import { Blobs } from "../../../src/strategies/git_worktree/blobs.ts";
import { Git } from "../../../src/strategies/git_worktree/git.ts";
import { shell } from "../shell.ts";
import { type Checkout, git, makeCheckout } from "./checkout.ts";

/** A git that counts how often it is started. */
function countedGit(): { readonly git: Git; readonly count: () => number } {
  let started = 0;
  const counted: StrategyHost["run"] = (program, args, { cwd, env, input } = {}) => {
    started += 1;
    const { status, signal, stdout, stderr } = spawnSync(program, args, {
      cwd,
      env: { ...process.env, ...env },
      ...(input !== undefined && { input }),
    });
    return Promise.resolve({ exitCode: status, signal, stdout, stderr });
  };
  return { git: new Git({ run: counted } as StrategyHost), count: () => started };
}

function makeFiles(): { readonly checkout: Checkout; readonly files: SizedFile[] } {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    "mkdir many; for n in $(seq 100 229); do echo file $n > many/$n; done; printf 'x\\r\\n' > many/crlf; echo 'many/crlf text eol=crlf' > .gitattributes; git add -A; git commit -qm many",
  );
  const files = git(checkout.root, "ls-files", "-s", "many").split("\n");
  return {
    checkout,
    files: files.map((line) => {
      const [, mode = "", oid = "", path = ""] = /^(\d+) (\w+) \d\t(.*)$/.exec(line) ?? [];
      return { entry: { mode, oid, path: path as RelativePath }, size: 9 };
    }),
  };
}

it("gives every file as the checkout has it, with one git for many of them", async () => {
  const { checkout, files } = makeFiles();
  const counted = countedGit();
  const inTurn = new BlobsInTurn(new Blobs(counted.git, { cwd: checkout.root }), files);
  for (const { entry } of files) {
    const content = await inTurn.read(entry.path);
    expect(content).toEqual(readFileSync(join(checkout.root, entry.path)));
  }
  expect(counted.count()).toBe(3);
});

it("gives files in any order, again and again, and nothing for other paths", async () => {
  const { checkout, files } = makeFiles();
  const inTurn = new BlobsInTurn(new Blobs(countedGit().git, { cwd: checkout.root }), files);
  const text = async (path: string): Promise<string | undefined> =>
    (await inTurn.read(path as RelativePath))?.toString();
  expect(await text("many/229")).toBe("file 229\n");
  expect(await text("many/101")).toBe("file 101\n");
  expect(await text("many/101")).toBe("file 101\n");
  expect(await text("many/crlf")).toBe("x\r\n");
  expect(await text("none")).toBeUndefined();
});

it("reads large files one by one", async () => {
  const { checkout, files } = makeFiles();
  const counted = countedGit();
  const large = files.slice(0, 4).map((file) => ({ ...file, size: 5 << 20 }));
  const inTurn = new BlobsInTurn(new Blobs(counted.git, { cwd: checkout.root }), large);
  for (const { entry } of large) await inTurn.read(entry.path);
  expect(counted.count()).toBe(4);
});
