import { openCofferdam } from "cofferdam";

/** Runs a command in a plan, or looks at the plan where none is given. */
const [stateDirectory = "", config = "", cwd = "/", ...argv] = process.argv.slice(2);

const cofferdam = await openCofferdam({ stateDirectory, config });
const plan = await cofferdam.plan("plan");
if (argv.length > 0) await plan.run(argv, { cwd, stdio: ["ignore", "inherit", "inherit"] });
else await plan.diff();
await cofferdam.close();
