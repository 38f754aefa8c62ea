import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openFor } from "../open-plan.ts";
import { plansOf } from "../plans-of.ts";
import { quoted } from "../quoted.ts";
import { timeText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { renderTable } from "../render/table.ts";

/** `coffer list`: every plan that is there. */
export async function listPlans(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call, { looking: true });
  const plans = plansOf(await cofferdam.list());
  call.answer(plans, (page) =>
    plans.length === 0
      ? []
      : renderTable(
          [
            ["PLAN", "STATE", "CHANGED", "RESOURCES"],
            ...plans.map(({ planId, state, updatedAt, resources }) => [
              printable(planId),
              state,
              timeText(updatedAt),
              resources.map(({ resourceId }) => printable(resourceId)).join(", "),
            ]),
          ],
          page,
        ),
  );
  const [newest] = plans.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  if (newest === undefined) {
    call.tell("There are no plans.");
    call.suggest(["coffer open NAME -r .", "open one for the current directory"]);
  } else call.suggest([`coffer status ${quoted(newest.planId)}`, "one plan in detail"]);
  return EXIT.done;
}
