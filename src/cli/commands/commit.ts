import type { CommitReport, PlanCommitOptions, PlanReport } from "../../index.ts";
import { pageFor } from "../call.ts";
import type { Call } from "../call.ts";
import { EXIT, exitCodeOfOutcome } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, memberOf, openFor } from "../open-plan.ts";
import { refuseFailures } from "../partial-failure.ts";
import { withProgress } from "../progress.ts";
import { countText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { suggestAfterCommit } from "../suggest-after-commit.ts";

/** `coffer commit`: publishes the changes of a plan, all or nothing. */
export async function commit(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const only = call.texts("only").map((text) => memberOf(known, text).ref.resourceId);
  const work = known.plan.commit(optionsOf(call, only));
  const report = await withProgress(call, "Committing", work);
  const exitCode = exitCodeOfOutcome(report.outcome);
  const isCleaned = call.flag("clean") && exitCode === EXIT.done && only.length === 0;
  const cleaned = isCleaned ? await known.plan.cleanup() : null;
  if (call.json) call.answerJson({ ...report, cleaned });
  tell(call, report, cleaned, known.sandboxes.length);
  if (cleaned !== null) refuseFailures(cleaned);
  return exitCode;
}

function optionsOf(call: Call, only: readonly string[]): PlanCommitOptions {
  const [message, expect] = [call.text("message"), call.text("expect")];
  return {
    signal: call.signal,
    ...(message !== undefined && { message }),
    ...(expect !== undefined && { expect }),
    ...(only.length > 0 && { only }),
    merge: call.flag("merge"),
    bestEffort: call.flag("bestEffort"),
  };
}

function tell(call: Call, report: CommitReport, cleaned: PlanReport | null, size: number): void {
  const { style } = pageFor(process.stderr);
  const { planId, outcome, order, results } = report;
  const published = order.filter((id) => results[id]?.noop === false);
  if (outcome === "committed-pending")
    call.tell(style.notable("Committed; something is still to be finished: run coffer recover."));
  else if (published.length === 0) call.tell("There was nothing to commit.");
  else {
    const how = report.atomicity === "bestEffort" ? "by best effort" : "all or nothing";
    call.tell(style.good(`Committed ${countText(published.length, "resource")}, ${how}:`));
  }
  for (const id of published) {
    const { added, changed, deleted, warnings, revision } = results[id]!;
    const counts = `${added.length} added, ${changed.length} changed, ${deleted.length} deleted`;
    const isGit = /^[0-9a-f]{40,64}$/.test(revision ?? "");
    const known = isGit ? `  (commit ${revision?.slice(0, 12) ?? ""})` : "";
    call.tell(`  ${printable(id)}  ${counts}${known}`);
    for (const warning of warnings) call.tell(`    warning: ${printable(warning)}`);
  }
  if (cleaned !== null) return call.tell(`The plan ${printable(planId)} is forgotten.`);
  suggestAfterCommit(call, report, size);
}
