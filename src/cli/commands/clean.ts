import { SandboxStateError } from "../../light.ts";
import type { Cofferdam, PlanSize, SandboxEvent, SparedBecause } from "../../index.ts";
import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isWithoutWork } from "../is-without-work.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import type { KnownPlan } from "../open-plan.ts";
import { refuseFailures } from "../partial-failure.ts";
import { type ListedPlan, plansOf } from "../plans-of.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { sizeText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { renderTable } from "../render/table.ts";
import { unsettled } from "../unsettled.ts";
import { usageError } from "../usage-error.ts";

/** `coffer clean`: forgets a plan, or those that nobody owns, or lists what each takes on disk. */
export async function clean(call: Call): Promise<ExitCode> {
  const planId = call.text("plan");
  const [isAbandoned, isList] = [call.flag("abandoned"), call.flag("list")];
  if ([planId !== undefined, isAbandoned, isList].filter(Boolean).length !== 1)
    throw usageError("name one PLAN, or --abandoned, or --list");
  const onEvent = (event: SandboxEvent): void => tellLeft(call, event);
  await using cofferdam = await openFor(call, { looking: isList, onEvent });
  if (isList) return await listSizes(call, cofferdam);
  if (isAbandoned) return await cleanAbandoned(call, cofferdam);
  return await cleanPlan(call, await knownPlan(cofferdam, planId ?? ""));
}

/** By force a plan is forgotten also where something of it cannot be removed: then nobody else knows of it any more. */
function tellLeft(call: Call, { name, data }: SandboxEvent): void {
  const { names } = data;
  if (name === "sandbox.worktreeLeft") tellWorktreeLeft(call, data as unknown as WorktreeLeft);
  if (name === "sandbox.clonesLeft" && typeof names === "string")
    call.tell(`The database cannot be reached: its clones ${printable(names)} may be left there.`);
  if (name === "sandbox.transactionsLeft")
    tellTransactionsLeft(call, data as unknown as TransactionsLeft);
}

/** What is told of transactions that may stand prepared on a server. */
interface TransactionsLeft {
  readonly connection: string;
  readonly database: string;
  readonly statements: readonly string[];
}

function tellTransactionsLeft(
  call: Call,
  { connection, database, statements }: TransactionsLeft,
): void {
  if (statements.length === 0) return;
  call.tell(
    `A transaction may still stand prepared on the server of ${printable(connection)}, and keep rows locked. In its database ${printable(database)} this ends it as the rest of the plan has ended:`,
  );
  for (const statement of statements) call.tell(`  ${printable(statement)}`);
}

interface WorktreeLeft {
  readonly repository: string;
  readonly branch: string;
  /** Where the refs that keep commits are. */
  readonly pins: string;
}

function tellWorktreeLeft(call: Call, { repository, branch, pins }: WorktreeLeft): void {
  call.tell(
    `The repository ${printable(repository)} is not there: wherever it is now, a worktree and a branch ${branch} are left in it.`,
  );
  call.suggest(
    [`git worktree remove -ff ${branch}`, "removes the worktree, when run there"],
    [`git branch -D ${branch}`, "the branch"],
    [
      `git for-each-ref --format='delete %(refname)' ${pins} | git update-ref --stdin`,
      "commits that were kept",
    ],
  );
}

async function cleanPlan(call: Call, known: KnownPlan): Promise<ExitCode> {
  const { plan, sandboxes } = known;
  const force = call.flag("force");
  if (!force) await refuseEdits(call, known);
  const work = plan.cleanup({ signal: call.signal, force });
  const report = await withProgress(call, "Cleaning up", work);
  refuseFailures(report);
  if (call.json) call.answerJson(report);
  const stays = sandboxes.some(({ status }) => status === "COMMITTED");
  const rest = stays ? " What was committed stays." : "";
  call.tell(`The plan ${printable(plan.id)} is forgotten.${rest}`);
  return EXIT.done;
}

/** Edits that are not committed are somebody's work. */
async function refuseEdits(call: Call, { plan, sandboxes }: KnownPlan): Promise<void> {
  const name = quoted(plan.id);
  const stuck = sandboxes.find(({ status }) => status === "ERRORED");
  if (stuck !== undefined)
    throw unsettled(stuck.ref, "cleanup", `; \`coffer clean ${name} --force\` forgets it for ever`);
  if (isWithoutWork(await plan.diff({ signal: call.signal }))) return;
  throw new SandboxStateError("The plan has edits that are not committed", {
    data: { status: "ACTIVE", attempted: "cleanup", allowedFrom: [], reason: "status" },
    operation: "cleanup",
    planId: plan.id,
    hint: `\`coffer diff ${name}\` shows them; \`coffer clean ${name} --force\` forgets them for ever.`,
  });
}

const SPARED: Readonly<Record<SparedBecause, string>> = {
  kept: "plans of the command line are kept until `coffer clean PLAN`",
  owned: "a process that lives works on it",
  recent: "it was used a short while ago",
  busy: "somebody is changing it",
};

async function cleanAbandoned(call: Call, cofferdam: Cofferdam): Promise<ExitCode> {
  const work = cofferdam.cleanupAbandoned({ signal: call.signal });
  const report = await withProgress(call, "Cleaning up", work);
  const failed = Object.assign({}, ...report.abandoned.map((one) => one.failed)) as Parameters<
    typeof refuseFailures
  >[0]["failed"];
  refuseFailures({ failed });
  if (call.json) call.answerJson(report);
  for (const { planId } of report.abandoned) call.tell(`  ${printable(planId)}  is forgotten`);
  for (const [planId, why] of Object.entries(report.spared))
    call.tell(`  ${printable(planId)}  stays: ${SPARED[why]}`);
  if (report.abandoned.length === 0) call.tell("No plan is abandoned.");
  return EXIT.done;
}

async function listSizes(call: Call, cofferdam: Cofferdam): Promise<ExitCode> {
  const plans: (Pick<ListedPlan, "planId" | "state" | "updatedAt"> & Omit<PlanSize, "planId">)[] =
    [];
  for (const { planId, state, updatedAt } of plansOf(await cofferdam.list())) {
    const { bytes, resources } = await (await cofferdam.plan(planId)).measure();
    plans.push({ planId, state, updatedAt, bytes, resources });
  }
  call.answer(plans, (page) => {
    if (plans.length === 0) return [];
    const rows = plans.map(({ planId, state, bytes }) => [
      printable(planId),
      state,
      sizeText(bytes),
    ]);
    return renderTable([["PLAN", "STATE", "ON DISK"], ...rows], page);
  });
  if (plans.length === 0) call.tell("There are no plans.");
  else call.suggest(["coffer clean PLAN", "forget one of them"]);
  return EXIT.done;
}
