// Usage: btrfs.mjs [--rounds N] [--files N,N,…] [--out FOLDER] — sandboxes of subvolumes beside a snapshot by hand, on a
// btrfs in a file. With --out it puts the numbers into benchmarks.json and benchmarks.md there. Needs root.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openCofferdam } from "../dist/index.js";
import { Times, timed } from "./measure.mjs";
import { withSection } from "./section.mjs";
import { makeTree, makeTwentyEdits } from "./trees.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    files: { type: "string", default: "1000,10000,100000" },
    out: { type: "string" },
  },
});
const sizes = values.files.split(",").map(Number);
const rounds = Number(values.rounds);
const CALLS = ["create", "diff", "checkpoint", "restoreCheckpoint", "commit", "undoCommit"];
const config = fileURLToPath(new URL("../plugins/btrfs/cofferdam.yaml", import.meta.url));
const run = (program, ...args) => execFileSync(program, args, { stdio: "ignore" });
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "cofferdam-bench-"));
const disk = join(folder, "disk");
const times = new Times();

async function measureRound(coffer, tree, paths, round) {
  const size = paths.length;
  const snapshot = join(disk, `by-hand-${size}-${round}`);
  const byHand = async () => run("btrfs", "subvolume", "snapshot", tree, snapshot);
  run("sync");
  times.add("by hand", "create", size, await timed(byHand));
  const resource = { resourceId: `tree-${size}`, type: "fs-directory", location: tree };
  let sandbox;
  const calls = {
    create: async () => {
      const ref = await coffer.create(`bench-${size}-${round}`, resource, {
        strategy: "btrfs_snapshot",
      });
      sandbox = coffer.sandbox(ref);
    },
    diff: () => sandbox.diff(),
    checkpoint: () => sandbox.checkpoint("kept"),
    restoreCheckpoint: () => sandbox.restoreCheckpoint("kept"),
    commit: () => sandbox.commit(),
    undoCommit: () => sandbox.undoCommit(),
  };
  for (const name of CALLS) {
    run("sync");
    times.add("btrfs_snapshot", name, size, await timed(calls[name]));
    if (name === "create") makeTwentyEdits(await sandbox.getPath(), paths, round);
  }
  await sandbox.cleanup();
  run("btrfs", "subvolume", "delete", snapshot);
}

function render() {
  const ours = (call, size) => times.get("btrfs_snapshot", call, size);
  const [smallest, largest] = [sizes[0], sizes.at(-1)];
  const byHand = times.get("by hand", "create", largest);
  const over = ours("create", largest) - 2 * byHand;
  const flat = ours("diff", largest) / ours("diff", smallest);
  const rows = [["by hand: a snapshot", (size) => times.get("by hand", "create", size)]].concat(
    CALLS.map((call) => [call, (size) => ours(call, size)]),
  );
  return [
    "## Snapshots of btrfs",
    "",
    `Made by \`npm run bench:btrfs\`: medians of ${rounds} rounds on a btrfs in a file, with 20 changes. By hand is`,
    "`btrfs subvolume snapshot`.",
    "",
    `| what | ${sizes.map((size) => `${size} files`).join(" | ")} | largest against smallest |`,
    `| --- | ${sizes.map(() => "---").join(" | ")} | --- |`,
    ...rows.map(
      ([name, of]) =>
        `| ${name} | ${sizes.map((size) => `${of(size).toFixed(1)} ms`).join(" | ")} | ${(of(largest) / of(smallest)).toFixed(2)} times |`,
    ),
    "",
    "| target | limit | measured | met |",
    "| --- | --- | --- | --- |",
    `| create over two snapshots by hand | 10 ms | ${over.toFixed(1)} ms | ${over <= 10 ? "yes" : "no"} |`,
    `| diff of 20 changes, ${largest} against ${smallest} files | 2 times | ${flat.toFixed(2)} times | ${flat <= 2 ? "yes" : "no"} |`,
    "",
  ].join("\n");
}

try {
  mkdirSync(disk);
  run("truncate", "-s", "8G", join(folder, "image"));
  run("mkfs.btrfs", "-q", join(folder, "image"));
  run("mount", "-o", "loop", join(folder, "image"), disk);
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config });
  for (const size of sizes) {
    const tree = join(disk, `tree-${size}`);
    run("btrfs", "subvolume", "create", tree);
    const paths = makeTree(tree, size);
    run("sync");
    for (let round = 0; round < rounds; round++) await measureRound(coffer, tree, paths, round);
  }
  await coffer.close();
} finally {
  run("umount", disk);
  rmSync(folder, { recursive: true, force: true });
}
const section = render();
process.stdout.write(section);
if (values.out !== undefined) {
  const [data, page] = ["benchmarks.json", "benchmarks.md"].map((name) => join(values.out, name));
  const all = {
    ...JSON.parse(readFileSync(data, "utf8")),
    btrfs: { sizes, rounds, times: times.list() },
  };
  writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, withSection(readFileSync(page, "utf8"), section));
}
process.exit(0);
