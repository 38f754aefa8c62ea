import { openCofferdam } from "../dist/index.js";

/** Commits a plan and is killed while it publishes. */
const [stateDirectory] = process.argv.slice(2);
const die = () => process.kill(process.pid, "SIGKILL");
const coffer = await openCofferdam({
  stateDirectory,
  config: false,
  onEvent: ({ name }) => {
    if (name === "plan.decided") setTimeout(die, 40);
  },
});
await (await coffer.plan("killed")).commit();
