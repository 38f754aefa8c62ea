// Arguments: state directory, ref as JSON. Says "ready", waits for a line, commits, prints what came of it.
import { once } from "node:events";
import { openCofferdam, SandboxError, type SandboxRef } from "../../../src/index.ts";

const [stateDirectory = "", text = ""] = process.argv.slice(2);
await using cofferdam = await openCofferdam({ stateDirectory, config: false });
const sandbox = cofferdam.sandbox(JSON.parse(text) as SandboxRef);
process.stdout.write("ready\n");
await once(process.stdin, "data");
try {
  const { noop } = await sandbox.commit();
  process.stdout.write(noop ? "noop\n" : "committed\n");
} catch (error) {
  process.stdout.write(`${error instanceof SandboxError ? error.code : String(error)}\n`);
}
process.stdin.destroy();
