import { openCofferdam } from "../../../src/index.ts";

/** Does named things with one sandbox of a state directory: `operate <state> <operation> …`. */
const [state = "", ...operations] = process.argv.slice(2);
await using coffer = await openCofferdam({ stateDirectory: state, config: false });
const [description] = await coffer.list();
if (description === undefined) throw new Error("there is no sandbox");
const sandbox = coffer.sandbox(description.ref);
for (const operation of operations) {
  if (operation === "diff") await sandbox.diff();
  else if (operation === "commit") await sandbox.commit();
  else if (operation === "rollback") await sandbox.rollback();
  else if (operation === "undo") await sandbox.undoCommit();
  else throw new Error(`no such operation: ${operation}`);
}
