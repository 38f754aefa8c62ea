import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { BASELINES, copyAndSync, find } from "./baselines.mjs";
import { withReflinkDisk } from "./disk.mjs";
import { Times, timed } from "./measure.mjs";
import { measureMemory } from "./memory.mjs";
import { measurePlans } from "./plans.mjs";
import { measureResolution } from "./resolution.mjs";
import { renderReport } from "./report.mjs";
import { sectionOf, withSection } from "./section.mjs";
import { makeSandbox, openBench } from "./sandbox.mjs";
import { makeRepository, makeTree, makeTwentyEdits } from "./trees.mjs";

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,10000,100000" },
    rounds: { type: "string", default: "3" },
    out: { type: "string", default: "docs" },
    bulk: { type: "string", default: "10000" },
    memory: { type: "boolean", default: true },
    "no-memory": { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
const rounds = Number(values.rounds);
const bulk = Number(values.bulk);
const STRATEGIES = ["overlay", "copy_on_write", "filesystem_copy"];

const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "cofferdam-bench-"));
const times = new Times();
const note = (text) => process.stderr.write(`${text}\n`);

/** Nothing that was written before has to be waited for by what is measured now. */
const settle = () => execFileSync("sync");

/** Every round another order, so that nobody always runs into a warm or a busy disk. */
const inTurn = (subjects, round) => subjects.map((_, n) => subjects[(n + round) % subjects.length]);

/**
 * All creations come first and all removals last: on ext4, creating files after a mass deletion is ten times slower,
 * whoever does it.
 */
async function measureSize(coffer, size) {
  const tree = join(folder, `tree-${size}`);
  const paths = makeTree(tree, size);
  // Apart from the tree, so that nobody else has to copy git's objects.
  const repository = join(folder, `repository-${size}`);
  execFileSync("cp", ["-a", tree, repository]);
  makeRepository(repository);
  const sandboxes = [];
  for (let round = 0; round < rounds; round++) {
    note(`${size} files, creation, round ${round + 1} of ${rounds}`);
    for (const subject of inTurn([...Object.keys(BASELINES), ...STRATEGIES], round * 3)) {
      const target = join(folder, `${subject.replaceAll(/\W+/g, "-")}-${size}-${round}`);
      const source = subject.startsWith("git") ? repository : tree;
      settle();
      const work = async () => {
        if (subject in BASELINES) BASELINES[subject](source, target);
        else sandboxes.push([subject, await makeSandbox(coffer, tree, subject)]);
      };
      times.add(subject, "create", size, await timed(work));
    }
  }
  for (const [number, [strategy, sandbox]] of sandboxes.entries()) {
    note(`${size} files, ${strategy}, ${number + 1} of ${sandboxes.length}`);
    await measureActions(strategy, sandbox, tree, paths, size, number);
  }
  for (const [strategy, sandbox] of sandboxes) {
    settle();
    times.add(strategy, "discard", size, await timed(() => sandbox.rollback()));
  }
}

/**
 * Overlays of all sizes in turn, in one minute: after a hundred thousand files were copied, the disk syncs more slowly
 * for whoever comes next, which says nothing about the size of a tree.
 */
async function measureFlatCreation(coffer) {
  for (let round = 0; round < rounds * 3; round++) {
    for (const size of inTurn(sizes, round)) {
      settle();
      const work = () => makeSandbox(coffer, join(folder, `tree-${size}`), "overlay");
      times.add("overlay", "create in turn", size, await timed(work));
    }
  }
}

async function measureActions(strategy, sandbox, tree, paths, size, number) {
  await sandbox.diff();
  find(tree);
  for (let turn = 0; turn < 3; turn++) {
    times.add(strategy, "diff unchanged", size, await timed(() => sandbox.diff()));
    times.add("find", `diff unchanged (${strategy})`, size, await timed(() => find(tree)));
  }
  makeTwentyEdits(await sandbox.getPath(), paths, number);
  const actions = {
    diff: () => sandbox.diff(),
    checkpoint: () => sandbox.checkpoint("c"),
    commit: () => sandbox.commit(),
    undo: () => sandbox.undoCommit(),
  };
  for (const [action, work] of Object.entries(actions)) {
    settle();
    times.add(strategy, action, size, await timed(work));
  }
}

/** Durable commit of many modified small files, beside a plain copy into the tree with a sync. */
async function measureBulk(coffer) {
  const tree = join(folder, "bulk");
  const paths = makeTree(tree, bulk * 2);
  const plain = join(folder, "bulk-plain");
  execFileSync("cp", ["-a", tree, plain]);
  const done = [];
  for (let round = 0; round < rounds; round++) {
    note(`commit of ${bulk} files, round ${round + 1} of ${rounds}`);
    const edited = join(folder, `edited-${round}`);
    const write = (root) => {
      for (const path of paths.slice(0, bulk)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), `round ${round} of ${path}\n`.repeat(20));
      }
    };
    write(edited);
    for (const subject of inTurn(["cp -a and sync", ...STRATEGIES], round)) {
      const sandbox = STRATEGIES.includes(subject) && (await makeSandbox(coffer, tree, subject));
      if (sandbox) write(await sandbox.getPath());
      settle();
      const commit = () => (sandbox ? sandbox.commit() : copyAndSync(edited, plain));
      times.add(subject, "bulk commit", bulk, await timed(commit));
      if (!sandbox) continue;
      settle();
      times.add(subject, "bulk undo", bulk, await timed(() => sandbox.undoCommit()));
      done.push([subject, sandbox]);
    }
  }
  for (const [subject, sandbox] of done) {
    times.add(subject, "bulk clean-up", bulk, await timed(() => sandbox.cleanup()));
  }
}

/** Creation by shared blocks, on a file system that has them. */
async function measureReflink() {
  await withReflinkDisk(folder, async (disk) => {
    const coffer = await openBench(join(disk, "state"));
    const size = sizes.at(-1) ?? 1000;
    const tree = join(disk, "tree");
    makeTree(tree, size);
    for (let round = 0; round < rounds; round++) {
      note(`reflink, round ${round + 1} of ${rounds}`);
      const target = join(disk, `cp-${round}`);
      const byHand = () => execFileSync("cp", ["-a", "--reflink=always", tree, target]);
      const ours = () => makeSandbox(coffer, tree, "copy_on_write");
      const pairs = [
        ["cp -a --reflink=always", byHand],
        ["copy_on_write", ours],
      ];
      for (const [name, work] of round % 2 === 0 ? pairs : pairs.reverse()) {
        settle();
        times.add(name, "reflink create", size, await timed(work));
      }
    }
    await coffer.close();
  });
}

try {
  const coffer = await openBench(join(folder, "state"));
  for (const size of sizes) await measureSize(coffer, size);
  await measureFlatCreation(coffer);
  await measureBulk(coffer);
  await coffer.close();
  await measureReflink();
  note("plans");
  const plans = await measurePlans(folder, { sizes, rounds, bulk });
  const memory = values["no-memory"] ? [] : measureMemory(folder);
  const resolution = await measureResolution();
  const machine = {
    cpus: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release().split(".", 2).join("."),
    node: process.version,
  };
  const report = { machine, sizes, rounds, bulk, times: times.list(), plans, memory, resolution };
  // What other runs have measured stays.
  const [data, page] = ["benchmarks.json", "benchmarks.md"].map((name) => join(values.out, name));
  const { databases, commands } = existsSync(data) ? JSON.parse(readFileSync(data, "utf8")) : {};
  writeFileSync(data, `${JSON.stringify({ ...report, databases, commands }, null, 2)}\n`);
  const before = existsSync(page) ? readFileSync(page, "utf8") : "";
  const others = ["Databases", "Commands"].flatMap((title) => sectionOf(before, title) ?? []);
  const text = others.reduce(withSection, renderReport(report, times));
  writeFileSync(page, text);
  process.stdout.write(text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
