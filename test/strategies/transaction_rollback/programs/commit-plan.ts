import { openCofferdam } from "../../../../src/index.ts";

/** Commits, or undoes, a plan; dies by SIGKILL when the named event happens. */
const [stateDirectory = "", config = "", call = "", event = ""] = process.argv.slice(2);

const cofferdam = await openCofferdam({
  stateDirectory,
  config,
  onEvent: ({ name }) => {
    if (name === event) process.kill(process.pid, "SIGKILL");
  },
});
const plan = await cofferdam.plan("plan");
await (call === "undo" ? plan.undo() : plan.commit());
await cofferdam.close();
