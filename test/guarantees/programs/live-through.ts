// Arguments: state directory, directory of the resource. Goes through a life and prints every time it was told.
import { openCofferdam } from "../../../src/index.ts";

const [stateDirectory = "", shop = ""] = process.argv.slice(2);
const told: string[] = [];
await using cofferdam = await openCofferdam({
  stateDirectory,
  config: false,
  onEvent: ({ at }) => told.push(at),
});
const ref = await cofferdam.create("plan", shop);
const sandbox = cofferdam.sandbox(ref);
told.push(ref.createdAt, (await sandbox.write("file", "edited\n")).at ?? "none");
await sandbox.checkpoint("first");
await sandbox.restoreCheckpoint("first");
told.push((await sandbox.commit()).committedAt);
const { updatedAt, checkpoints } = await sandbox.describe();
told.push(updatedAt, ...checkpoints.map(({ createdAt }) => createdAt));
told.push(...(await cofferdam.history()).map(({ at }) => at));
await sandbox.read("missing").catch((error: { at: string }) => told.push(error.at));
process.stdout.write(JSON.stringify(told));
