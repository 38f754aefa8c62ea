import { openCofferdam } from "../../../src/index.ts";
import { FolderSurroundings } from "../../fixtures/surroundings/folder-strategy.ts";

/** Runs a script in surroundings until somebody ends it. */
const [stateDirectory = "", location = "", script = ""] = process.argv.slice(2);
const coffer = await openCofferdam({
  stateDirectory,
  config: false,
  strategies: { surroundings: FolderSurroundings },
});
const plan = await coffer.plan("plan", [
  { id: "real", type: "fs-directory", location, sandboxStrategy: "surroundings" },
]);
await plan.run(["sh", "-c", script], { cwd: location });
