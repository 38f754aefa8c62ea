import type { Cofferdam, InterruptedWork, RecoveryReport } from "../../index.ts";
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
  if (!report.complete) call.suggest(["coffer doctor", "find out what stands in the way"]);
  return report.complete ? EXIT.done : EXIT.pending;
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
  const verdict = (error: { readonly message: string } | null, text: string): string =>
    error === null ? style.good(text) : `${style.bad("not yet")}: ${printable(error.message)}`;
  return [
    ...report.transactions.map(
      ({ transaction, outcome, error }) =>
        `transaction  ${transaction}  ${verdict(error, outcome)}`,
    ),
    ...report.sandboxes.map(
      ({ ref, from, to, error }) =>
        `sandbox      ${printable(ref.planId)}  ${printable(ref.resourceId)}  ` +
        verdict(error, `${from} → ${to}`),
    ),
    ...report.damaged.map(({ message }) => `damaged      ${printable(message)}`),
  ];
}
