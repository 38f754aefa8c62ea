import type { Call } from "../call.ts";
import { type ChangedPaths, changedPaths } from "../changed-paths.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isWithoutWork } from "../is-without-work.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { commitsText, countText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";

/** `coffer drop`: takes single edits back, the rest stays. */
export async function drop(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const { plan } = known;
  const { signal } = call;
  const diff = await plan.diff({ signal });
  const wanted = changedPaths(known, diff, call.texts("path"));
  for (const { resourceId, paths, changes, exact } of wanted) {
    const both = [...paths, ...otherEnds(changes).map(exact)];
    await withProgress(call, "Taking back", plan.drop(resourceId, both, { signal }));
  }
  const dropped = wanted.flatMap(({ resourceId, changes }) =>
    [...changes.map(({ path }) => path), ...otherEnds(changes)].map((path) => ({
      resourceId,
      path,
    })),
  );
  if (call.json) call.answerJson({ planId: plan.id, dropped });
  const left = await plan.diff({ signal });
  const what = countText(dropped.length, "edit");
  call.tell(`Took back ${what} in the plan ${printable(plan.id)}: ${namesOf(dropped)}.`);
  const name = quoted(plan.id);
  for (const [id, view] of Object.entries(left.resources))
    for (const text of commitsText(view)) call.tell(`${printable(id)}: ${text} all the same.`);
  if (isWithoutWork(left)) call.tell("Nothing else is changed there.");
  else
    call.suggest(
      [`coffer diff ${name}`, "what is left"],
      [`coffer commit ${name}`, "publish what is left, all or nothing"],
    );
  return EXIT.done;
}

const SHOWN = 5;

function namesOf(dropped: readonly { readonly path: string }[]): string {
  const names = dropped.slice(0, SHOWN).map(({ path }) => printable(path || "."));
  return `${names.join(", ")}${dropped.length > SHOWN ? ` and ${dropped.length - SHOWN} more` : ""}`;
}

/** A rename is one edit: whoever takes one end of it back takes back both. */
function otherEnds(changes: ChangedPaths["changes"]): string[] {
  const known = new Set(changes.map(({ path }) => path));
  return changes
    .flatMap(({ renamedFrom, renamedTo }) => renamedFrom ?? renamedTo ?? [])
    .filter((path) => !known.has(path));
}
