import type { Call } from "../call.ts";
import { describePlan } from "../describe-plan.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor, workspaceOf } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { wayIn } from "../way-in.ts";

/** `coffer fork`: a second plan that begins with what the first one holds. */
export async function fork(call: Call): Promise<ExitCode> {
  const name = call.needed("new");
  const from = call.text("from");
  await using cofferdam = await openFor(call);
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const options = { signal: call.signal, ...(from !== undefined && { from }) };
  const forked = await withProgress(call, "Forking", plan.fork(name, options));
  await forked.keep();
  for (const { ref } of await cofferdam.list(name))
    await workspaceOf(cofferdam.sandbox(ref), call.signal);
  const sandboxes = await cofferdam.list(name);
  const told = await describePlan(cofferdam, { plan: forked, sandboxes });
  if (call.json) call.answerJson(told);
  const begin = from === undefined ? "the present state" : printable(from);
  call.tell(`The plan ${printable(name)} begins with ${begin} of ${printable(plan.id)}.`);
  call.suggest(...wayIn(told, sandboxes), [
    `coffer diff ${quoted(name)}`,
    "see what it would commit",
  ]);
  return EXIT.done;
}
