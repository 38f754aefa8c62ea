import { readFileSync } from "node:fs";
import { type Change, openCofferdam } from "../../../src/index.ts";

/*
 * Works in a project through the library alone, in a mode of the overlay that is asked for, and tells at each step what
 * the diff says.
 */

/** What the program is told. */
export interface CallsOrder {
  readonly project: string;
  readonly state: string;
  readonly mode: "userns" | "fuse" | "copy";
}

/** What the program tells: the changes after each step. */
export interface CallsReport {
  readonly steps: Readonly<Record<string, readonly Change[]>>;
  /** What `write` itself told. */
  readonly written: Change;
  readonly warnings: readonly string[];
}

const { project, state, mode } = JSON.parse(readFileSync(0, "utf8")) as CallsOrder;
await using coffer = await openCofferdam({ stateDirectory: state, config: false });
const resource = { id: "project", location: project, properties: { mode } };
const plan = await coffer.plan("plan", [{ type: "fs-directory", ...resource }]);
const sandbox = plan.sandbox("project");
const steps: Record<string, readonly Change[]> = {};
const look = async (step: string): Promise<void> => {
  steps[step] = (await sandbox.diff()).changes;
};
await look("new");
await sandbox.checkpoint("first");
await look("with a checkpoint");
await sandbox.getPath();
await look("with a workspace");
await sandbox.remove("src/deleted.txt");
await look("removed");
const written = await sandbox.write("src/deep/edited.txt", "new\n");
await look("written");
await sandbox.checkpoint("second");
await sandbox.drop(["src/deep/edited.txt"]);
await look("dropped");
await sandbox.restoreCheckpoint("second");
await look("restored");
const { warnings } = await sandbox.commit();
const report: CallsReport = { steps, written, warnings };
process.stdout.write(JSON.stringify(report));
