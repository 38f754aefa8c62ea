import { SandboxError } from "../../../src/errors/index.ts";
import { openStateDirectory } from "../../../src/journal/state-directory.ts";
import { findArea } from "../../../src/journal/storage-area.ts";

/** Prints the area for a resource, or the error in its JSON shape. */
const [state = "", location = "", parent = ""] = process.argv.slice(2);
try {
  const { path } = await openStateDirectory(state);
  const options = { stateDirectory: path, allowParent: parent === "parent" };
  process.stdout.write(JSON.stringify(await findArea(location, options)));
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  process.stdout.write(JSON.stringify(error));
}
