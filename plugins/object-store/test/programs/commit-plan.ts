import { openCofferdam } from "cofferdam";

/** Commits the plan, and tells when it begins to. */
const [stateDirectory = "", config = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const plan = await cofferdam.plan("trio");
process.stdout.write("begun\n");
await plan.commit();
await cofferdam.close();
