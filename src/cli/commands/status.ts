import type { Call, Page } from "../call.ts";
import { describePlan } from "../describe-plan.ts";
import type { ToldPlan, ToldSandbox } from "../describe-plan.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { PlanPromise } from "../../index.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { commitLine, promiseLines } from "../plan-promise.ts";
import { quoted } from "../quoted.ts";
import { timeText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { renderTable } from "../render/table.ts";

/** `coffer status`: one plan in detail. */
export async function showStatus(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call, { looking: true });
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const told = await describePlan(cofferdam, known);
  const { promise } = await known.plan.describe();
  call.answer(told, (page) => render(told, page));
  if (isUnderWay(told)) for (const line of promiseLines(promise)) call.tell(line);
  call.suggest(...next(told, promise));
  return EXIT.done;
}

function render({ planId, state, sandboxes, checkpoints }: ToldPlan, page: Page): string[] {
  const rows = sandboxes.map(({ resourceId, strategyName, status, mode, path }) => [
    printable(resourceId),
    status,
    printable(mode === null ? strategyName : `${strategyName} (${mode})`),
    printable(path ?? ""),
  ]);
  return [
    `${page.style.bold(printable(planId))} is ${state}`,
    "",
    ...renderTable([["RESOURCE", "STATUS", "STRATEGY", "WORKSPACE"], ...rows], page),
    ...sandboxes.flatMap(foreignLine),
    ...(checkpoints.length === 0 ? [] : ["", page.style.bold("Checkpoints")]),
    ...checkpoints.map(
      ({ id, createdAt, isCurrent }) =>
        `  ${printable(id)}  ${timeText(createdAt)}${isCurrent ? "  (current)" : ""}`,
    ),
  ];
}

/** Why it is this mode, where the files themselves decided that. */
function foreignLine({ resourceId, mode, foreign }: ToldSandbox): string[] {
  if (foreign === null) return [];
  return [
    "",
    `${printable(resourceId)} is in mode ${printable(mode ?? "")}: ${printable(foreign)}.`,
  ];
}

function isUnderWay({ state }: ToldPlan): boolean {
  return state === "open" || state === "partly-committed";
}

function next({ planId, state }: ToldPlan, promise: PlanPromise): (readonly [string, string])[] {
  const name = quoted(planId);
  switch (state) {
    case "interrupted":
    case "errored":
      return [["coffer recover", "finish or take back what was interrupted"]];
    case "committed":
      return [
        [`coffer rollback ${name}`, "take the commit back"],
        [`coffer clean ${name}`, "forget the plan, keep what is committed"],
      ];
    case "rolled-back":
      return [[`coffer clean ${name}`, "forget the plan"]];
    case "open":
    case "partly-committed":
      return [[`coffer diff ${name}`, "see what would be committed"], commitLine(planId, promise)];
  }
}
