import { readFileSync } from "node:fs";
import { type SandboxEvent, openCofferdam } from "../../../../src/index.ts";
import { EDITS, MORE_EDITS } from "../../../../src/testing/edits.ts";
import { outputOf, runProgram } from "../../../../src/testing/run-program.ts";
import { plantTree, SAMPLE_TREE } from "../../../../src/testing/sample-tree.ts";
import { snapshotOf } from "../../../../src/testing/snapshot.ts";

/*
 * Leads a whole life with the overlay as whoever runs this, in the best mode that works here, and tells what was to be
 * seen at each step.
 */

/** What the program is told. */
export interface LifeOrder {
  /** An empty folder for the resource. */
  readonly real: string;
  readonly state: string;
}

/** What the program tells. */
export interface LifeReport {
  readonly strategyName: string;
  readonly mode: unknown;
  readonly tried: unknown;
  /** The reason in the log, of the choice of a mode. */
  readonly chosen: SandboxEvent["data"] | undefined;
  /** For each step, each entry or answer of which it is made. */
  readonly steps: Readonly<Record<string, unknown>>;
}

const { real, state } = JSON.parse(readFileSync(0, "utf8")) as LifeOrder;
await plantTree(real, SAMPLE_TREE);
const events: SandboxEvent[] = [];
await using coffer = await openCofferdam({
  stateDirectory: state,
  config: false,
  onEvent: (event) => events.push(event),
});
const ref = await coffer.create("plan", real, { strategy: "overlay" });
const sandbox = coffer.sandbox(ref);
const steps: Record<string, unknown> = {};
steps["workspace, new"] = await entriesOf(await sandbox.getPath());
await edit(EDITS);
steps["workspace, edited"] = await entriesOf(await sandbox.getPath());
steps["resource, before the commit"] = await entriesOf(real);
steps["list"] = await sandbox.list("new");
steps["read"] = Buffer.from(await sandbox.read("data.bin")).toString("hex");
const diff = await sandbox.diff();
steps["diff"] = { changes: diff.changes, summary: diff.summary, text: await diff.text() };
await sandbox.checkpoint("kept");
await edit(MORE_EDITS);
await sandbox.restoreCheckpoint("kept");
steps["workspace, restored"] = await entriesOf(await sandbox.getPath());
const { added, changed, deleted, noop } = await sandbox.commit();
steps["commit"] = { added, changed, deleted, noop };
steps["resource, committed"] = await entriesOf(real);
await sandbox.rollback();
steps["resource, undone"] = await entriesOf(real);
steps["workspace, undone"] = await entriesOf(await sandbox.getPath());
await edit(MORE_EDITS);
await sandbox.rollback();
steps["workspace, rolled back"] = await entriesOf(await sandbox.getPath());
steps["status"] = await coffer.status(ref);
await sandbox.cleanup();
const { mode, tried } = ref.metadata;
const chosen = events.find(({ name }) => name === "overlay.modeChosen")?.data;
const report: LifeReport = { strategyName: ref.strategyName, mode, tried, chosen, steps };
process.stdout.write(JSON.stringify(report, withoutOwner));

async function edit(script: string): Promise<void> {
  const args = ["-euc", `umask 022\n${script}`];
  outputOf("the edits", await runProgram(await sandbox.getPath(), "sh", args));
}

async function entriesOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const own = ` ${process.getuid?.()}:${process.getgid?.()} `;
  const entries = [...(await snapshotOf(folder))];
  return Object.fromEntries(entries.map(([path, text]) => [path, text.replace(own, " own ")]));
}

/** Whoever runs this owns everything; who that is differs. */
function withoutOwner(key: string, value: unknown): unknown {
  if (key === "uid" && value === process.getuid?.()) return "own";
  return key === "gid" && value === process.getgid?.() ? "own" : value;
}
