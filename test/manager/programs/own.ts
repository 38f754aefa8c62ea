import { openCofferdam } from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";

/** Opens an installation, makes a plan over one directory with one edit, says so, and lives until its input ends. */
const [stateDirectory = "", planId = "", location = "", strategy = "", keeps = ""] =
  process.argv.slice(2);
const coffer = await openCofferdam({ stateDirectory, config: false, strategies: PROBES });
const plan = await coffer.plan(planId, [
  { id: "tree", type: "fs-directory", location, sandboxStrategy: strategy },
]);
if (keeps === "keep") await plan.keep();
await plan.sandbox("tree").write("a", `of ${planId}\n`);
process.stdout.write("ready\n");
process.stdin.resume();
process.stdin.on("end", () => void coffer.close());
