import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Times, timed } from "./measure.mjs";
import { openBench } from "./sandbox.mjs";
import { makeRepository, makeTree } from "./trees.mjs";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "50000" },
    rounds: { type: "string", default: "3" },
  },
});
const files = Number(values.files);
const rounds = Number(values.rounds);
const CHANGED = 20;

const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "cofferdam-bench-"));
const times = new Times();
const settle = () => execFileSync("sync");
const git = (cwd, ...args) =>
  execFileSync(
    "git",
    ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid", ...args],
    {
      cwd,
      stdio: "ignore",
    },
  );

/** Edits twenty files; each round and each side others, so that nothing ever conflicts. */
function edit(workspace, paths, start) {
  for (let n = 0; n < CHANGED; n++) {
    writeFileSync(join(workspace, paths[start + n]), `edited ${start}\n`);
  }
}

/** What people do by hand: a worktree, add, commit, merge. */
async function byHand(repository, paths, round) {
  const target = join(folder, `by-hand-${round}`);
  const branch = `by-hand-${round}`;
  const add = () => git(repository, "worktree", "add", "-q", "-b", branch, target);
  times.add("git", "create", files, await timed(add));
  edit(target, paths, round * 2 * CHANGED);
  settle();
  const commit = () => {
    git(target, "add", "-A");
    git(target, "commit", "-qm", "edited");
    git(repository, "merge", "-q", "--no-edit", branch);
  };
  times.add("git", "commit", files, await timed(commit));
}

async function bySandbox(coffer, repository, paths, round) {
  const resource = { resourceId: `r-${round}`, type: "git-repository", location: repository };
  let sandbox;
  const create = async () => {
    sandbox = coffer.sandbox(await coffer.create(`bench-${round}`, resource));
  };
  times.add("git_worktree", "create", files, await timed(create));
  edit(await sandbox.getPath(), paths, (round * 2 + 1) * CHANGED);
  settle();
  times.add("git_worktree", "diff", files, await timed(() => sandbox.diff()));
  settle();
  times.add("git_worktree", "commit", files, await timed(() => sandbox.commit()));
  settle();
  times.add("git_worktree", "undo", files, await timed(() => sandbox.undoCommit()));
}

try {
  const repository = join(folder, "repository");
  const paths = makeTree(repository, files);
  makeRepository(repository);
  const coffer = await openBench(join(folder, "state"));
  for (let round = 0; round < rounds; round++) {
    const works = [
      () => byHand(repository, paths, round),
      () => bySandbox(coffer, repository, paths, round),
    ];
    for (const work of round % 2 === 0 ? works : works.reverse()) {
      settle();
      await work();
    }
  }
  await coffer.close();
  for (const { subject, action, medianMs } of times.list()) {
    process.stdout.write(`${subject} ${action} ${medianMs} ms\n`);
  }
  for (const action of ["create", "commit"]) {
    const ratio = times.get("git_worktree", action, files) / times.get("git", action, files);
    process.stdout.write(`${action}: ${ratio.toFixed(2)} times git by hand\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
