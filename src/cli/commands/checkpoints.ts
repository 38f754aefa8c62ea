import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { quoted } from "../quoted.ts";
import { timeText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { renderTable } from "../render/table.ts";

/** `coffer checkpoints`: the kept states of a plan. */
export async function listCheckpoints(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call, { looking: true });
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const checkpoints = await plan.checkpoints();
  call.answer(checkpoints, (page) =>
    checkpoints.length === 0
      ? []
      : renderTable(
          [
            ["CHECKPOINT", "MADE", ""],
            ...checkpoints.map(({ id, createdAt, note, automatic, isCurrent }) => [
              printable(id),
              timeText(createdAt),
              [isCurrent ? "current" : "", automatic ? "automatic" : "", printable(note ?? "")]
                .filter((word) => word !== "")
                .join(", "),
            ]),
          ],
          page,
        ),
  );
  const name = quoted(plan.id);
  const last = checkpoints.at(-1);
  if (last === undefined) call.suggest([`coffer checkpoint ${name}`, "keep the present state"]);
  else call.suggest([`coffer restore ${name} ${quoted(last.id)}`, "come back to one"]);
  return EXIT.done;
}
