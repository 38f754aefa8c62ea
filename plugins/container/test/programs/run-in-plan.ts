import { openCofferdam } from "cofferdam";

/** Runs a script in a plan over one directory, which is made if need be, and tells its exit code. */
const [stateDirectory = "", config = "", location = "", script = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const plan = await cofferdam.plan("plan", [
  { id: "site", type: "fs-directory", location, sandboxStrategy: "container" },
]);
const { exitCode } = await plan.run(["sh", "-c", script], { cwd: location });
await cofferdam.close();
process.stdout.write(`ended with ${exitCode}\n`);
