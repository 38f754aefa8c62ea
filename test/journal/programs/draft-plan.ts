import { chmodSync } from "node:fs";
import { join } from "node:path";
import { SandboxStore } from "../../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../../src/journal/state-directory.ts";

/** Drafts a plan and publishes it; in a folder that cannot be read meanwhile, when told so. Prints what became of it. */
const [state = "", planId = "", folder = ""] = process.argv.slice(2);
const { path } = await openStateDirectory(state);
await using draft = await new SandboxStore(path).draftPlan(planId);
if (folder === "unreadable") chmodSync(join(path, "plans"), 0o300);
const published = await draft.publish().catch((error: unknown) => error);
chmodSync(join(path, "plans"), 0o700);
process.stdout.write(JSON.stringify({ published, isPublished: draft.isPublished }));
if (!draft.isPublished) draft.remove();
