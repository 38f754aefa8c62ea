import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isOffered, knownPlan, memberOf, openFor, workspaceOf } from "../open-plan.ts";
import { quoted } from "../quoted.ts";
import { usageError } from "../usage-error.ts";

/** `coffer path`: the workspace of a sandbox, made ready. */
export async function printPath(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const given = call.text("resource");
  const [first] = known.sandboxes;
  if (given === undefined && known.sandboxes.length > 1) {
    const ids = known.sandboxes.map(({ ref }) => ref.resourceId);
    throw usageError(
      "the plan has several resources",
      `Name one: coffer path ${quoted(known.plan.id)} ${ids.map(quoted).join("|")}`,
    );
  }
  const { ref } = given === undefined ? first! : memberOf(known, given);
  const path = await workspaceOf(cofferdam.sandbox(ref), call.signal);
  if (path === null) {
    const hint = (await isOffered(cofferdam, [{ ref }], "queries"))
      ? `Use coffer sql ${quoted(ref.planId)} ${quoted(ref.resourceId)} for a database.`
      : `The strategy ${ref.strategyName} gives programs no path; edits are made through the API.`;
    throw usageError(`${ref.resourceId} has no directory to work in`, hint);
  }
  // Exactly the path, whatever characters it has: it is for programs.
  call.answer({ planId: ref.planId, resourceId: ref.resourceId, path }, () => [path]);
  return EXIT.done;
}
