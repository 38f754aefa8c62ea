import type { OverlayMode } from "../../../src/strategies/overlay/mode-names.ts";
import { displayPath } from "../../../src/model/byte-path.ts";
import type { TestSandbox } from "./sandbox.ts";
import { spawnSync } from "node:child_process";

const isRoot = process.getuid?.() === 0;

/** The layered modes that the user of the suite can use. */
export const LAYERED_MODES: readonly OverlayMode[] = isRoot
  ? ["kernel", "userns", "fuse"]
  : ["userns"];

/** Runs a shell line of the test in the view, by whatever way the mode offers, and leaves the view quiet. */
export async function runInView(
  { workspace, place, metadata }: TestSandbox,
  line: string,
): Promise<string> {
  if (metadata["mode"] === "userns") {
    const done = await workspace.runInside(place, ["sh", "-ec", line]);
    if (done.exitCode !== 0) throw new Error(`${line}: ${done.stderr.toString()}`);
    return done.stdout.toString();
  }
  const shown = runIn(displayPath(await workspace.path(place)), line);
  await workspace.quiesce(place, "commit");
  return shown;
}

/** Runs a shell line of the test in a directory. */
export function runIn(cwd: string, line: string): string {
  const done = spawnSync("sh", ["-ec", line], { cwd, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${line}: ${done.stderr}`);
  return done.stdout;
}
