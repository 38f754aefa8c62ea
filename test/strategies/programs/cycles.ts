import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError, openCofferdam } from "../../../src/index.ts";

/**
 * Makes and removes sandboxes: `cycles <state> <directory> <strategy> <mode> <count> <failure>`. Of four cycles one is
 * committed and undone, one fails to commit, one cannot be undone, one stays committed.
 */
const [state = "", location = "", strategy = "", mode = "", count = "0", failure = ""] =
  process.argv.slice(2);
// A write beyond the limit then fails instead of ending the process.
process.on("SIGXFSZ", () => undefined);
const told = { committed: 0, undone: 0, commitFailed: 0, undoFailed: 0, codes: new Set<string>() };
await using coffer = await openCofferdam({ stateDirectory: state, config: false });

const fails = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return false;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    told.codes.add(error.code);
    return true;
  }
};

for (let cycle = 0; cycle < Number(count); cycle++) {
  const resource = { resourceId: "r", type: "fs-directory", location };
  const properties = mode === "" ? {} : { properties: { mode } };
  const ref = await coffer.create(`p${cycle}`, { ...resource, ...properties }, { strategy });
  const sandbox = coffer.sandbox(ref);
  const workspace = await sandbox.getPath();
  const kind = cycle % 4;
  writeFileSync(join(workspace, "file"), `${cycle}\n`);
  appendFileSync(join(workspace, "other"), `${cycle}\n`);
  if (kind === 1 && failure === "limit") {
    const script = "ulimit -f unlimited; head -c 2000000 /dev/zero > too-large";
    execFileSync("sh", ["-ec", script], { cwd: workspace });
  } else if (kind === 1) execFileSync("chattr", ["+i", location]);
  const isCommitted = !(await fails(sandbox.commit()));
  if (kind === 1 && failure !== "limit") execFileSync("chattr", ["-i", location]);
  if (isCommitted) told.committed++;
  else told.commitFailed++;
  if (kind === 2) appendFileSync(join(location, "file"), "foreign\n");
  if (kind === 0 || kind === 2) {
    if (await fails(sandbox.rollback())) told.undoFailed++;
    else told.undone++;
  }
  await sandbox.cleanup({ force: true });
}
process.stdout.write(JSON.stringify({ ...told, codes: [...told.codes].toSorted() }));
// What counts coverage is written when the process ends, and is larger than the limit.
execFileSync("prlimit", [`--pid=${process.pid}`, "--fsize=unlimited:unlimited"]);
