import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { makeSandbox, openBench } from "./sandbox.mjs";

const [tree, state, strategy] = process.argv.slice(2);
const coffer = await openBench(state);
const sandbox = await makeSandbox(coffer, tree, strategy);
const workspace = await sandbox.getPath();
appendFileSync(join(workspace, "sparse"), "end");
appendFileSync(join(workspace, "part-0/folder-0/file-0.txt"), "end");
const { changes } = await sandbox.diff();
await sandbox.commit();
await sandbox.rollback();
await sandbox.cleanup();
process.stdout.write(
  JSON.stringify({
    changes: changes.length,
    peakMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
process.exit(0);
