import { execFileSync } from "node:child_process";
import { SandboxError, type SandboxEvent, openCofferdam } from "../../../src/index.ts";

/** A whole life of one sandbox, told step by step: `life <state> <directory> <strategy> <mode> <script> <look>`. */
const [state = "", location = "", strategy = "", mode = "", script = "", look = ""] =
  process.argv.slice(2);
const events: SandboxEvent[] = [];
const told: Record<string, unknown> = {};
try {
  await using coffer = await openCofferdam({
    stateDirectory: state,
    config: false,
    onEvent: (event) => void events.push(event),
  });
  const type = strategy === "git_worktree" ? "git-repository" : "fs-directory";
  const resource = { resourceId: "r", type, location };
  const properties = mode === "" ? {} : { properties: { mode } };
  const ref = await coffer.create("plan", { ...resource, ...properties }, { strategy });
  const sandbox = coffer.sandbox(ref);
  try {
    told["metadata"] = ref.metadata;
    execFileSync("sh", ["-ec", script], { cwd: await sandbox.getPath() });
    const { changes } = await sandbox.diff();
    told["changes"] = changes.map(({ path, kind }) => [path, kind]);
    const { warnings } = await sandbox.commit();
    told["warnings"] = warnings;
    told["seen"] = execFileSync("sh", ["-ec", look], { cwd: location, encoding: "utf8" });
    await sandbox.rollback();
  } finally {
    told["status"] = (await sandbox.describe()).status;
    await sandbox.cleanup({ force: true });
  }
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  told["error"] = error.toJSON();
}
told["events"] = events.map(({ name }) => name);
process.stdout.write(JSON.stringify(told));
