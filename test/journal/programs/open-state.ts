import { SandboxError } from "../../../src/errors/index.ts";
import { openStateDirectory } from "../../../src/journal/state-directory.ts";

/** Prints the installation's id, or the error in its JSON shape. */
const [path = ""] = process.argv.slice(2);
try {
  const { installId } = await openStateDirectory(path);
  process.stdout.write(installId);
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  process.stdout.write(JSON.stringify(error));
}
