import type { Call } from "../call.ts";
import { describePlan } from "../describe-plan.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openFor, workspaceOf } from "../open-plan.ts";
import { commitLine, promiseLines } from "../plan-promise.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { namedResources, parseResource } from "../resource-argument.ts";
import { usageError } from "../usage-error.ts";
import { wayIn } from "../way-in.ts";

/** `coffer open`: a plan with sandboxes of the resources, which outlives this process. */
export async function openPlan(call: Call): Promise<ExitCode> {
  const planId = call.needed("plan");
  const wanted = call.texts("resource");
  if (planId === "") throw usageError("the name of a plan must not be empty");
  if (wanted.length === 0)
    throw usageError("no resource is given", `For example: coffer open ${quoted(planId)} -r .`);
  await using cofferdam = await openFor(call);
  const parsed = wanted.map((text) => parseResource(text, cofferdam.config));
  const resources = namedResources(parsed, await cofferdam.list(planId));
  const plan = await withProgress(call, "Making sandboxes", cofferdam.plan(planId, resources));
  await plan.keep();
  // So that the workspaces are there for whoever comes next.
  for (const { ref, status } of await cofferdam.list(planId))
    if (status === "CREATED") await workspaceOf(cofferdam.sandbox(ref), call.signal);
  const sandboxes = await cofferdam.list(planId);
  const told = await describePlan(cofferdam, { plan, sandboxes });
  if (call.json) call.answerJson(told);
  call.tell(`The plan ${printable(planId)} is ${told.state}:`);
  for (const { resourceId, strategyName, mode, path } of told.sandboxes) {
    const where = path === null ? "" : `  ${printable(path)}`;
    call.tell(
      `  ${printable(resourceId)}  ${strategyName}${mode === null ? "" : ` (${mode})`}${where}`,
    );
  }
  const { promise } = await plan.describe();
  for (const line of promiseLines(promise)) call.tell(line);
  call.suggest(
    ...wayIn(told, sandboxes),
    [`coffer diff ${quoted(planId)}`, "see what would be committed"],
    commitLine(planId, promise),
  );
  return EXIT.done;
}
