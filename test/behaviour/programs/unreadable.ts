import { chmodSync } from "node:fs";
import { join } from "node:path";
import { SandboxError, openCofferdam } from "../../../src/index.ts";

/** Tells with which code unreadable files are answered, once while copying and once while comparing. */
const [home = ""] = process.argv.slice(2);
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof SandboxError ? error.code : String(error)),
  );
await using coffer = await openCofferdam({ stateDirectory: join(home, "state"), config: false });
const real = join(home, "real");
chmodSync(join(real, "closed"), 0);
const create = await codeOf(coffer.create("one", real, { strategy: "filesystem_copy" }));
chmodSync(join(real, "closed"), 0o644);
const sandbox = coffer.sandbox(await coffer.create("two", real, { strategy: "filesystem_copy" }));
chmodSync(join(await sandbox.getPath(), "closed"), 0);
const diff = await codeOf(sandbox.diff());
await sandbox.cleanup();
process.stdout.write(JSON.stringify({ create, diff }));
