import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCofferdam } from "../../../src/index.ts";

/** A resource whose every name is hostile. */
export interface LiveOrder {
  readonly state: string;
  readonly planId: string;
  readonly resourceId: string;
  readonly location: string;
  readonly strategy: string;
  readonly mode?: string;
  /** A file and a repository below the resource. */
  readonly file: string;
  readonly repository: string;
}

/** Lives through everything that starts a program: mounts, merges, looks into a repository, unmounts. */
const order = JSON.parse(process.argv[2] ?? "") as LiveOrder;
const { planId, resourceId, location, strategy, mode, file } = order;
await using coffer = await openCofferdam({ stateDirectory: order.state, config: false });
const resource = {
  resourceId,
  type: "fs-directory",
  location,
  properties: { ...(mode !== undefined && { mode }) },
};
const ref = await coffer.create(planId, resource, { strategy });
const sandbox = coffer.sandbox(ref);
const work = await sandbox.getPath();
await sandbox.write(file, readFileSync(join(work, file), "utf8").replace("first", "FIRST"));
execFileSync("touch", ["--", join(await sandbox.getPath(), order.repository, "tracked")]);
execFileSync("git", ["status"], {
  cwd: join(await sandbox.getPath(), order.repository),
  stdio: "ignore",
});
if (strategy !== "none") {
  const real = join(location, file);
  writeFileSync(real, readFileSync(real, "utf8").replace("last", "LAST"));
  await sandbox.checkpoint("one");
  await sandbox.restoreCheckpoint("one");
}
const { changed } = await sandbox.commit(strategy === "none" ? {} : { merge: true });
if (strategy !== "none") await sandbox.rollback();
await sandbox.cleanup();
process.stdout.write(JSON.stringify({ changed }));
