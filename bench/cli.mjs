// Usage: cli.mjs [--rounds N] [--builds N] [--files N,N,…] [--out FOLDER] — what commands cost over bare node: those that
// look at a plan with twenty changes, a run of `true` in trees of several sizes beside the same set-up by a shell, and a
// build inside a plan beside the same build outside. With --out it puts the numbers into benchmarks.json and
// benchmarks.md there. Needs root.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BUILD, SOURCES, canBuild, makeProject } from "./build-project.mjs";
import { renderCommands } from "./cli-report.mjs";
import { Times, timed } from "./measure.mjs";
import { withSection } from "./section.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    builds: { type: "string", default: "3" },
    files: { type: "string", default: "1000,50000,100000" },
    out: { type: "string" },
  },
});
const CHANGES = 20;
const sizes = values.files.split(",").map(Number);
const program = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "cofferdam-bench-"));
const times = new Times();
const coffer = (...args) => [program, "--state", join(folder, "state"), ...args];
const node = (args, cwd = folder) =>
  execFileSync(process.execPath, args, { cwd, encoding: "utf8" });
const inPlan = (place, ...command) =>
  coffer("run", "--discard", "-q", "-r", place, "--", ...command);

/** What `coffer run` mounts, by hand: $1 is an empty folder, $2 the tree. */
const BY_HAND = `set -e
mkdir $1/r $1/u $1/w $1/tu $1/tw
unshare --mount --propagation private --pid --fork --kill-child sh -ec '
  mount -t overlay overlay -o lowerdir=/,upperdir=$1/u,workdir=$1/w $1/r
  for live in proc sys dev; do mount --rbind /$live $1/r/$live; done
  mount -t overlay overlay -o lowerdir=$2,upperdir=$1/tu,workdir=$1/tw $1/r$2
  mount -t tmpfs tmpfs $1/r$1
  mkdir $1/r$1/old; cd $1/r; pivot_root . .$1/old; cd /; umount -l $1/old
  mount -t proc proc /proc; cd $2; true
' sh $1 $2
rm -rf $1/*`;

/** A tree of so many files, a thousand to a folder. */
function makeTree(size) {
  const tree = join(folder, `tree-${size}`);
  for (let n = 0; n < size; n++) {
    const inner = join(tree, String(Math.floor(n / 1000)));
    if (n % 1000 === 0) mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, `${n}.txt`), `${n}\n`);
  }
  return tree;
}

/** Measures several works in turn, so that whatever else the machine does is in all of them. */
async function inTurn(subject, rounds, works) {
  const processor = new Map(Object.keys(works).map((name) => [name, 0]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, work] of Object.entries(works)) {
      const before = processorMs();
      times.add(subject, name, 0, await timed(work));
      processor.set(name, processor.get(name) + processorMs() - before);
    }
  }
  return {
    took: (name) => times.get(subject, name, 0),
    used: (name) => processor.get(name) / rounds,
  };
}

/** The processor time of all children that have ended, and of theirs; the kernel counts hundredths of a second. */
function processorMs() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function measureLooks() {
  const site = join(folder, "site");
  mkdirSync(site);
  for (let n = 0; n < 1000; n++) writeFileSync(join(site, `${n}.txt`), `${n}\n`);
  node(coffer("open", "bench", "-r", "./site", "-q"));
  const workspace = node(coffer("path", "bench")).trimEnd();
  for (let n = 0; n < CHANGES; n++) writeFileSync(join(workspace, `${n}.txt`), `changed ${n}\n`);
  const commands = {
    "--version": [100, [program, "--version"]],
    status: [150, coffer("status", "bench", "-q")],
    diff: [150, coffer("diff", "bench", "-q")],
  };
  const calls = Object.entries(commands).map(([name, [, args]]) => [name, () => node(args)]);
  const { took, used } = await inTurn("looking", values.rounds, {
    "bare node": () => node(["-e", "0"]),
    ...Object.fromEntries(calls),
  });
  return Object.entries(commands).map(([command, [limit]]) => {
    const over = Math.round(took(command) - took("bare node"));
    return {
      command,
      "bare node": Math.round(took("bare node")),
      "over it": over,
      "processor over it": Math.round(used(command) - used("bare node")),
      target: limit,
      met: met(over, limit),
    };
  });
}

async function measureRuns() {
  const place = join(folder, "by-hand");
  mkdirSync(place);
  const works = { "bare node": () => node(["-e", "0"]) };
  for (const size of sizes) {
    const tree = makeTree(size);
    works[`by hand ${size}`] = () => execFileSync("sh", ["-c", BY_HAND, "sh", place, tree]);
    works[`run ${size}`] = () => node(inPlan(tree, "true"));
  }
  const { took, used } = await inTurn("running", values.rounds, works);
  return sizes.map((files) => {
    const names = [`run ${files}`, "bare node", `by hand ${files}`];
    const [whole, bare, byHand] = names.map((name) => Math.round(took(name)));
    const [wholeUsed, bareUsed, byHandUsed] = names.map(used);
    const over = whole - bare - byHand;
    return {
      files,
      "coffer run": whole,
      "bare node": bare,
      "by hand": byHand,
      "over both": over,
      "processor over both": Math.round(wholeUsed - bareUsed - byHandUsed),
      target: 80,
      met: met(over, 80),
    };
  });
}

async function measureBuilds() {
  if (!canBuild()) return [];
  const project = join(folder, "project");
  makeProject(project);
  const { took } = await inTurn("building", values.builds, {
    "build outside": () => {
      execFileSync(BUILD[0], BUILD.slice(1), { cwd: project });
      execFileSync("make", ["-s", "clean"], { cwd: project });
    },
    "build inside": () => {
      node(inPlan(project, "sh", "-c", `${BUILD.join(" ")} && make -s clean`), project);
    },
  });
  const [outside, inside] = ["build outside", "build inside"].map((name) => Math.round(took(name)));
  const ratio = (inside / outside).toFixed(2);
  return [{ outside, inside, ratio, target: 1.15, met: met(ratio, 1.15) }];
}

function met(measured, most) {
  return measured <= most ? "yes" : "no";
}

try {
  const rows = {
    looks: await measureLooks(),
    runs: await measureRuns(),
    builds: await measureBuilds(),
  };
  const whole = rows.runs.map((row) => row["coffer run"]);
  rows.spread = Math.max(...whole) / Math.min(...whole);
  const section = renderCommands(
    { rounds: values.rounds, changes: CHANGES, sources: SOURCES },
    rows,
  );
  process.stdout.write(section);
  if (values.out !== undefined) {
    const [data, page] = ["benchmarks.json", "benchmarks.md"].map((name) => join(values.out, name));
    const all = { ...JSON.parse(readFileSync(data, "utf8")), commands: times.list() };
    writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
    writeFileSync(page, withSection(readFileSync(page, "utf8"), section));
  }
} finally {
  node(coffer("clean", "bench", "--force", "-q"));
  rmSync(folder, { recursive: true, force: true });
}
