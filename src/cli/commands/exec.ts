import type { Call } from "../call.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { runEnclosed } from "../run/run-enclosed.ts";
import { usageError } from "../usage-error.ts";

/** `coffer exec`: a command in an open plan. */
export async function executeCommand(call: Call): Promise<ExitCode> {
  const argv = call.texts("cmd");
  if (argv.length === 0) throw usageError("no command is given", "For example: … -- npm test");
  await using cofferdam = await openFor(call);
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const result = await runEnclosed(call, plan, argv);
  if (call.json) call.answerJson({ planId: plan.id, ...result });
  return result.exitCode;
}
