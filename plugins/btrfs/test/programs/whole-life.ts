import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openCofferdam } from "cofferdam";

/** A sandbox from its making to its end, by whoever runs this; tells what the diff and the real file were. */
const [stateDirectory = "", location = "", config = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const resource = { resourceId: "site", type: "fs-directory", location } as const;
const ref = await cofferdam.create("plan", resource, { strategy: "btrfs_snapshot" });
const sandbox = cofferdam.sandbox(ref);
const page = (): string => readFileSync(join(location, "docs/deep/page"), "utf8");
await sandbox.checkpoint("first");
await sandbox.write("docs/deep/page", "later\n");
await sandbox.restoreCheckpoint("first");
await sandbox.write("docs/deep/page", "new\n");
const { changes } = await sandbox.diff();
await sandbox.commit();
const committed = page();
await sandbox.rollback();
process.stdout.write(
  `${JSON.stringify({ changes: changes.map(({ path }) => path), committed, undone: page() })}\n`,
);
await sandbox.cleanup();
await cofferdam.close();
