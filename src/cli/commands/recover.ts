import type { Cofferdam, ErrorJson, InterruptedWork, RecoveryReport } from "../../index.ts";
import type { Call, Page } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openCofferdam } from "../../light.ts";
import { withProgress } from "../progress.ts";
import { printable } from "../render/printable.ts";

/** `coffer recover`: finishes or takes back what a crash interrupted. */
export async function recover(call: Call): Promise<ExitCode> {
  await using cofferdam = await openCofferdam({ ...call.places, recover: "report" });
  if (call.flag("list")) return await listInterrupted(call, cofferdam);
  const report = await withProgress(call, "Recovering", cofferdam.recover());
  call.answer(report, (page) => reportLines(report, page));
  const found = report.transactions.length + report.sandboxes.length + report.damaged.length;
  if (found === 0) call.tell("Nothing was interrupted.");
  if (!report.complete) tellNext(call, report);
  return report.complete ? EXIT.done : EXIT.pending;
}

/** Where what stands in the way says what to do about it, nothing else has to be found out. */
function tellNext(call: Call, { transactions, sandboxes }: RecoveryReport): void {
  const errors = [...transactions, ...sandboxes].flatMap(({ error }) => error ?? []);
  const hints = new Set(errors.flatMap((error) => obstacleIn(error).hint ?? []));
  for (const hint of hints) call.tell(printable(hint));
  if (hints.size > 0) call.suggest(["coffer recover", "again, when that is done"]);
  else call.suggest(["coffer doctor", "find out what stands in the way"]);
}

/** What is behind an error: the last of its causes that is an error of the library. */
function obstacleIn(error: ErrorJson): ErrorJson {
  const { cause } = error;
  return cause !== null && "data" in cause ? obstacleIn(cause) : error;
}

async function listInterrupted(call: Call, cofferdam: Cofferdam): Promise<ExitCode> {
  const work = await cofferdam.interrupted();
  const found = work.transactions.length + work.sandboxes.length + work.damaged.length;
  call.answer(work, () => workLines(work));
  if (found === 0) call.tell("Nothing is interrupted.");
  else call.suggest(["coffer recover", "finish it or take it back"]);
  return EXIT.done;
}

function workLines({ transactions, sandboxes, damaged }: InterruptedWork): string[] {
  return [
    ...transactions.map((transaction) => `transaction  ${transaction}`),
    ...sandboxes.map(
      ({ ref, status }) =>
        `sandbox      ${printable(ref.planId)}  ${printable(ref.resourceId)}  ${status}`,
    ),
    ...damaged.map(({ message }) => `damaged      ${printable(message)}`),
  ];
}

function reportLines(report: RecoveryReport, { style }: Page): string[] {
  const verdict = (error: ErrorJson | null, text: string, isNamed: boolean): string => {
    if (error === null) return style.good(text);
    const { resourceId, message } = obstacleIn(error);
    const about = resourceId === null || isNamed ? "" : `${resourceId}: `;
    return `${style.bad("not yet")}: ${printable(`${about}${message}`)}`;
  };
  return [
    ...report.transactions.map(
      ({ transaction, outcome, error }) =>
        `transaction  ${transaction}  ${verdict(error, outcome, false)}`,
    ),
    ...report.sandboxes.map(
      ({ ref, from, to, error }) =>
        `sandbox      ${printable(ref.planId)}  ${printable(ref.resourceId)}  ` +
        verdict(error, `${from} → ${to}`, true),
    ),
    ...report.damaged.map(({ message }) => `damaged      ${printable(message)}`),
  ];
}
