import type { Call } from "../call.ts";
import { changedPaths } from "../changed-paths.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { usageError } from "../usage-error.ts";

const SIDES = ["mine", "theirs", "merge"] as const;

const TOLD = {
  mine: "Your version will be published over what is there now",
  theirs: "What is there now stays; your edits were taken back",
  merge: "Your version has both sides now",
} as const;

/** `coffer resolve`: settles conflicts, so that the next commit goes through. */
export async function resolveConflicts(call: Call): Promise<ExitCode> {
  const [how, second] = SIDES.filter((side) => call.flag(side));
  if (how === undefined || second !== undefined)
    throw usageError("give one of --mine, --theirs and --merge");
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const { plan } = known;
  const { signal } = call;
  const texts = call.texts("path");
  const wanted = changedPaths(known, await plan.diff({ signal }), texts);
  for (const { resourceId, paths } of wanted)
    await withProgress(call, "Settling", plan.resolve(resourceId, paths, how, { signal }));
  const resolved = wanted.map(({ resourceId, changes }) => ({
    resourceId,
    paths: changes.map(({ path }) => path),
  }));
  if (call.json) call.answerJson({ planId: plan.id, how, resolved });
  call.tell(`${TOLD[how]}: ${printable(texts.join(" "))}.`);
  const name = quoted(plan.id);
  call.suggest(
    ...(how === "merge" ? [[`coffer diff ${name}`, "look at the merge"] as const] : []),
    [`coffer commit ${name}`, "publish it, all or nothing"],
  );
  return EXIT.done;
}
