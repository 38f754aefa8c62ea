import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";

/** `coffer checkpoint`: keeps the present state of a whole plan. */
export async function makeCheckpoint(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const taken = (await plan.checkpoints()).map(({ id }) => id);
  const checkpoint = call.text("name") ?? freeName(taken);
  const work = plan.checkpoint(checkpoint, { signal: call.signal });
  await withProgress(call, "Keeping the present state", work);
  if (call.json) call.answerJson({ planId: plan.id, checkpoint });
  call.tell(`The present state is kept as ${printable(checkpoint)}.`);
  call.suggest([`coffer restore ${quoted(plan.id)} ${quoted(checkpoint)}`, "come back to it"]);
  return EXIT.done;
}

function freeName(taken: readonly string[]): string {
  let number = taken.length + 1;
  while (taken.includes(`c${number}`)) number += 1;
  return `c${number}`;
}
