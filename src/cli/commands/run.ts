import type { Cofferdam, CommitReport, Plan, PlanDiff, PlanRunResult } from "../../index.ts";
import { DatabaseError } from "../../light.ts";
import { type Call, pageFor } from "../call.ts";
import { EXIT, exitCodeOfOutcome } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isWithoutWork } from "../is-without-work.ts";
import { openFor } from "../open-plan.ts";
import { refuseFailures } from "../partial-failure.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { contentOf } from "../render/content.ts";
import { renderSummary } from "../render/summary.ts";
import { namedResources, parseResource } from "../resource-argument.ts";
import { type Choice, askChoice, canAsk } from "../run/ask.ts";
import { runEnclosed } from "../run/run-enclosed.ts";
import { suggestAfterCommit } from "../suggest-after-commit.ts";
import { showPaged } from "../terminal/pager.ts";
import { usageError } from "../usage-error.ts";

/** What became of the plan. */
type Ending = "committed" | "kept" | "discarded" | "unchanged";

/** `coffer run`: a command in a plan of its own, then what becomes of it. */
export async function runCommand(call: Call): Promise<ExitCode> {
  const argv = call.texts("cmd");
  if (argv.length === 0) throw usageError("no command is given", "For example: … -- npm test");
  const answers = (["commit", "discard", "keep"] as const).filter((name) => call.flag(name));
  if (answers.length > 1) throw usageError("--commit, --discard and --keep exclude each other");
  await using cofferdam = await openFor(call);
  const { plan, isNew } = await openPlan(call, cofferdam);
  const result = await runOrForget(call, plan, argv, isNew);
  const diff = await withProgress(call, "Comparing", plan.diff());
  tellSummary(call, diff);
  const wanted = await chooseEnding(call, { answer: answers[0], diff, isNew, result });
  const { ending, report } = await carryOut(call, plan, diff, wanted);
  if (call.json)
    call.answerJson({ planId: plan.id, ...result, ending, digest: diff.digest, report });
  tellEnding(call, plan.id, ending, report);
  const committed = report === null ? EXIT.done : exitCodeOfOutcome(report.outcome);
  return result.exitCode === 0 ? committed : result.exitCode;
}

async function openPlan(call: Call, cofferdam: Cofferdam): Promise<{ plan: Plan; isNew: boolean }> {
  const known = new Set((await cofferdam.list()).map(({ ref }) => ref.planId));
  const planId = call.text("plan") ?? freeName(known);
  if (planId === "") throw usageError("the name of a plan must not be empty");
  const isNew = !known.has(planId);
  const given = call.texts("resource");
  const wanted = given.length === 0 && isNew ? ["."] : given;
  const parsed = wanted.map((text) => parseResource(text, cofferdam.config));
  const resources = namedResources(parsed, await cofferdam.list(planId));
  const plan = await withProgress(call, "Making sandboxes", cofferdam.plan(planId, resources));
  // Whatever happens to this process, the plan is there to be looked at; unless nobody wants to.
  if (!isNew || !call.flag("discard")) await plan.keep();
  return { plan, isNew };
}

/** A plan that was made for a command which did nothing in it is of no use to anybody; edits are never thrown away here. */
async function runOrForget(
  call: Call,
  plan: Plan,
  argv: readonly string[],
  isNew: boolean,
): Promise<PlanRunResult> {
  try {
    return await runEnclosed(call, plan, argv);
  } catch (error) {
    // A copy with edits that were not taken is somebody's work too.
    const isKept = error instanceof DatabaseError && error.data.keptAt !== undefined;
    if (isNew && !isKept && (await hasNoWork(plan))) await plan.cleanup();
    if (isNew && isKept) {
      call.tell(`Kept as the plan ${printable(plan.id)}:`);
      call.suggest([`coffer clean ${quoted(plan.id)} --force`, "forget the plan and what it kept"]);
    }
    throw error;
  }
}

/** What cannot be looked at may be somebody's work; the command's own error is the one to tell. */
async function hasNoWork(plan: Plan): Promise<boolean> {
  try {
    return isWithoutWork(await plan.diff());
  } catch {
    return false;
  }
}

function freeName(known: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) if (!known.has(`run-${number}`)) return `run-${number}`;
}

function tellSummary(call: Call, diff: PlanDiff): void {
  const { style, width } = pageFor(process.stderr);
  for (const line of renderSummary(diff, style, width)) call.tell(line);
}

interface Finished {
  readonly answer: Choice | undefined;
  readonly diff: PlanDiff;
  readonly isNew: boolean;
  readonly result: PlanRunResult;
}

async function chooseEnding(
  call: Call,
  { answer, diff, isNew, result }: Finished,
): Promise<Exclude<Choice, "review"> | "unchanged"> {
  if (answer === "commit" && result.exitCode !== 0) {
    call.warn(`Not committed: the command ended with ${result.exitCode}.`);
    return "keep";
  }
  if (answer !== undefined && answer !== "review") return answer;
  if (isWithoutWork(diff) && isNew) return "unchanged";
  if (call.json || !canAsk()) return "keep";
  for (;;) {
    const choice = await askChoice();
    if (choice !== "review") return choice;
    await review(diff);
  }
}

async function review(diff: PlanDiff): Promise<void> {
  const page = pageFor(process.stdout);
  const lines: string[] = [];
  for (const view of Object.values(diff.resources))
    lines.push(...(await contentOf(view, undefined, page)));
  await showPaged(lines);
}

async function carryOut(
  call: Call,
  plan: Plan,
  diff: PlanDiff,
  wanted: Exclude<Choice, "review"> | "unchanged",
): Promise<{ ending: Ending; report: CommitReport | null }> {
  if (wanted === "keep") return { ending: "kept", report: null };
  if (wanted === "commit") {
    const message = call.text("message");
    const options = { expect: diff.digest, ...(message !== undefined && { message }) };
    const report = await withProgress(call, "Committing", plan.commit(options));
    return { ending: "committed", report };
  }
  refuseFailures(await plan.cleanup());
  return { ending: wanted === "unchanged" ? "unchanged" : "discarded", report: null };
}

function tellEnding(call: Call, planId: string, ending: Ending, report: CommitReport | null): void {
  const name = quoted(planId);
  if (ending === "unchanged") return;
  if (ending === "discarded") return call.tell("Discarded; nothing of it is left.");
  if (report !== null) {
    call.tell(`Committed as the plan ${printable(planId)}.`);
    return suggestAfterCommit(call, report, report.order.length);
  }
  call.tell(`Kept as the plan ${printable(planId)}:`);
  call.suggest(
    [`coffer diff ${name}`, "see every change"],
    [`coffer commit ${name}`, "publish it, all or nothing"],
    [`coffer rollback ${name}`, "discard the edits"],
    [`coffer clean ${name} --force`, "forget the plan and its edits"],
  );
}
