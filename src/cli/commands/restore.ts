import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";

/** `coffer restore`: brings a whole plan back to a kept state. */
export async function restore(call: Call): Promise<ExitCode> {
  const checkpoint = call.needed("name");
  await using cofferdam = await openFor(call);
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const work = plan.restoreCheckpoint(checkpoint, { signal: call.signal });
  await withProgress(call, "Restoring", work);
  const keptAs = (await plan.checkpoints()).findLast(({ automatic }) => automatic)?.id ?? null;
  if (call.json) call.answerJson({ planId: plan.id, checkpoint, keptAs });
  call.tell(`The plan ${printable(plan.id)} is as it was at ${printable(checkpoint)}.`);
  const name = quoted(plan.id);
  call.suggest(
    [`coffer diff ${name}`, "see what would be committed"],
    ...(keptAs === null
      ? []
      : [[`coffer restore ${name} ${quoted(keptAs)}`, "take the restore back"] as const]),
  );
  return EXIT.done;
}
