import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { openCofferdam } from "../dist/index.js";
import { median, timed } from "./measure.mjs";
import { makeTree, makeTwentyEdits } from "./trees.mjs";

const settle = () => execFileSync("sync");
const CHILD = fileURLToPath(new URL("plan-child.mjs", import.meta.url));

/** Three directories with twenty changes each: committed one by one, and as one plan. */
async function measureTogether(folder, size, rounds) {
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
  const names = ["one", "two", "three"];
  const trees = names.map((name) => join(folder, `${name}-${size}`));
  const paths = trees.map((tree) => makeTree(tree, size));
  const [alone, together] = [[], []];
  for (let round = 0; round < rounds * 2; round++) {
    const plan = await coffer.plan(`together-${size}-${round}`, trees);
    for (const [at, { ref }] of (await plan.describe()).sandboxes.entries())
      makeTwentyEdits(await coffer.sandbox(ref).getPath(), paths[at], round);
    const { sandboxes } = await plan.describe();
    settle();
    if (round % 2 === 0) {
      let sum = 0;
      for (const { ref } of sandboxes) sum += await timed(() => coffer.sandbox(ref).commit());
      alone.push(sum);
    } else together.push(await timed(() => plan.commit()));
    await plan.undo();
    await plan.cleanup();
  }
  await coffer.close();
  return { size, aloneMs: median(alone), togetherMs: median(together) };
}

/** Writes new content into the first files of a tree. */
function edit(root, paths, text) {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** From the decision to the last change, and how late timers were meanwhile. */
async function measureWindow(folder, files, rounds) {
  const tree = join(folder, "window");
  const paths = makeTree(tree, files * 2).slice(0, files);
  const marks = {};
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const coffer = await openCofferdam({
    stateDirectory: join(folder, "window-state"),
    config: false,
    onEvent: ({ name }) => {
      marks[name] = performance.now();
      if (name === "plan.decided") delay.reset();
      if (name === "plan.advanced") marks.drift = delay.max / 1e6;
    },
  });
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    const plan = await coffer.plan(`window-${round}`, [tree]);
    edit(await plan.sandbox("window").getPath(), paths, `round ${round}\n`.repeat(20));
    settle();
    delay.enable();
    const commitMs = await timed(() => plan.commit());
    delay.disable();
    const windowMs = marks["plan.advanced"] - marks["plan.decided"];
    rows.push({ commitMs, windowMs, driftMs: marks.drift });
    await plan.cleanup();
  }
  await coffer.close();
  const of = (key) => median(rows.map((row) => row[key]));
  return { files, commitMs: of("commitMs"), windowMs: of("windowMs"), driftMs: of("driftMs") };
}

/** A process is killed while it publishes; then the installation is opened again, which recovers it. */
async function measureRecovery(folder, files, rounds) {
  const tree = join(folder, "recovery");
  const paths = makeTree(tree, files * 2).slice(0, files);
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const stateDirectory = join(folder, `recovery-state-${round}`);
    const coffer = await openCofferdam({ stateDirectory, config: false });
    const plan = await coffer.plan("killed", [tree]);
    edit(await plan.sandbox("recovery").getPath(), paths, `killed in ${round}\n`.repeat(20));
    await coffer.close();
    settle();
    const child = spawnSync(process.execPath, [CHILD, stateDirectory], { stdio: "inherit" });
    if (child.signal !== "SIGKILL") throw new Error("the process that publishes was not killed");
    const start = performance.now();
    const next = await openCofferdam({ stateDirectory, config: false });
    times.push(performance.now() - start);
    if (next.opening.recovery?.complete !== true) throw new Error("nothing was recovered");
    await (await next.plan("killed")).cleanup();
    await next.close();
  }
  return median(times);
}

/** Opening beside many old plans, and in an empty state directory. */
async function measureOpening(folder, plans, rounds) {
  const tree = join(folder, "small");
  makeTree(tree, 10);
  const stateDirectory = join(folder, "many");
  const coffer = await openCofferdam({ stateDirectory, config: false });
  for (let number = 0; number < plans; number++) {
    const plan = await coffer.plan(`old-${number}`, [tree]);
    await plan.sandbox("small").write("part-0/folder-0/file-0.txt", `of ${number}\n`);
    await plan.commit({ merge: false });
  }
  await coffer.close();
  const opened = async (directory) => {
    const start = performance.now();
    const instance = await openCofferdam({ stateDirectory: directory, config: false });
    const time = performance.now() - start;
    await instance.close();
    return time;
  };
  const [empty, full] = [[], []];
  for (let round = 0; round < rounds * 3; round++) {
    empty.push(await opened(join(folder, `empty-${round}`)));
    full.push(await opened(stateDirectory));
  }
  return { plans, emptyMs: median(empty), fullMs: median(full) };
}

/** Everything about plans. */
export async function measurePlans(folder, { sizes, rounds, bulk, plans = 100 }) {
  const place = join(folder, "plans");
  mkdirSync(place);
  const together = [];
  for (const size of [sizes[0], sizes.at(-1)])
    together.push(await measureTogether(place, size, rounds));
  const window = await measureWindow(place, bulk, rounds);
  const recoveryMs = await measureRecovery(place, bulk, rounds);
  const opening = await measureOpening(place, plans, rounds);
  return { together, window, recoveryMs, opening };
}

/** The targets of plans, as rows of what, measured, target. */
export function planTargets({ together, window, recoveryMs, opening }) {
  const [small, large] = together;
  return [
    ...together.map(({ size, aloneMs, togetherMs }) => [
      `commit of three directories of ${size} files against three single commits`,
      togetherMs / aloneMs,
      2,
    ]),
    [
      `commit of three directories, ${large.size} files against ${small.size}`,
      large.togetherMs / small.togetherMs,
      2,
    ],
    [`seconds from the decision to the last of ${window.files} changes`, window.windowMs / 1000, 1],
    [`milliseconds by which a timer is late meanwhile`, window.driftMs, 50],
    [
      `recovery of that commit, killed half way, against the commit`,
      recoveryMs / window.commitMs,
      1,
    ],
    [
      `milliseconds that opening takes longer with ${opening.plans} old plans`,
      opening.fullMs - opening.emptyMs,
      50,
    ],
  ];
}
