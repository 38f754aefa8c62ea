import type { PlanDiff, SandboxDescription, UndoPreview } from "../../index.ts";
import { type Call, type Page, pageFor } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import type { KnownPlan } from "../open-plan.ts";
import { refuseFailures } from "../partial-failure.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { countText } from "../render/amounts.ts";
import { printable } from "../render/printable.ts";
import { showPaged } from "../terminal/pager.ts";
import { unsettled } from "../unsettled.ts";

/** What would become of one resource. */
interface Preview extends UndoPreview {
  /** `undo` takes a commit back, `discard` forgets edits that are not committed. */
  readonly action: "undo" | "discard";
}

/** `coffer rollback`: discards the edits of a plan; what is committed is taken back first. */
export async function rollback(call: Call): Promise<ExitCode> {
  const isDry = call.flag("dryRun");
  await using cofferdam = await openFor(call, { looking: isDry });
  const known = await knownPlan(cofferdam, call.needed("plan"));
  refuseStuck(known);
  if (isDry) return await preview(call, known);
  const { plan, sandboxes } = known;
  // Nothing of such a plan was published, so that whoever takes that back means to go on in it.
  const isReopened = sandboxes.every(isEmptyCommit);
  const options = { signal: call.signal };
  const work = isReopened ? plan.undo(options) : plan.rollback(options);
  const report = await withProgress(call, "Rolling back", work);
  refuseFailures(report);
  for (const id of report.succeeded) {
    const sandbox = sandboxes.find(({ ref }) => ref.resourceId === id);
    call.tell(`  ${printable(id)}  ${outcomeOf(sandbox, isReopened)}`);
  }
  if (call.json) call.answerJson(report);
  if (report.succeeded.length === 0) call.tell("There was nothing to roll back.");
  const name = quoted(plan.id);
  if (isReopened) call.suggest([`coffer diff ${name}`, "see what would be committed"]);
  else call.suggest([`coffer clean ${name}`, "forget the plan"]);
  return EXIT.done;
}

/** What is in between would be left as it is, and the edits of the others would be gone all the same. */
function refuseStuck({ sandboxes }: KnownPlan): void {
  const stuck = sandboxes.find(({ status }) => status === "ERRORED");
  if (stuck !== undefined) throw unsettled(stuck.ref, "rollback");
}

/** Whether a commit had nothing to publish, and can be taken back by saying so. */
function isEmptyCommit({ status, lastResult }: SandboxDescription): boolean {
  return status === "COMMITTED" && lastResult?.noop === true && lastResult.undoable.possible;
}

/** What became of a resource; the sandbox is as it was before. */
function outcomeOf(sandbox: SandboxDescription | undefined, isReopened: boolean): string {
  if (isReopened) return "nothing had been committed; the sandbox is open again";
  if (sandbox?.status !== "COMMITTED") return "the edits are gone; the resource was not touched";
  return isEmptyCommit(sandbox)
    ? "nothing had been committed"
    : "the commit is taken back, and the edits are gone";
}

async function preview(call: Call, known: KnownPlan): Promise<ExitCode> {
  const { plan } = known;
  const isCommitted = known.sandboxes.some(({ status }) => status === "COMMITTED");
  const undo = isCommitted ? await plan.previewUndo() : null;
  const resources: Record<string, Preview> = discards(await plan.diff({ signal: call.signal }));
  for (const [id, one] of Object.entries(undo?.resources ?? {}))
    resources[id] = { action: "undo", ...one };
  const possible = undo?.possible ?? true;
  if (call.json) call.answerJson({ planId: plan.id, possible, resources });
  else await showPaged(render(resources, pageFor(process.stdout)));
  if (possible) call.suggest([`coffer rollback ${quoted(plan.id)}`, "do it"]);
  return possible ? EXIT.done : EXIT.refused;
}

/** How many paths of one kind a preview shows before it only counts them. */
const MOST_SHOWN = 10;

/** Nothing can stand in the way of edits that nobody else has. */
const FREE = { action: "discard", possible: true, isChecked: true, obstacle: null } as const;

/** Edits that are not committed: only the sandbox changes. */
function discards({ resources }: PlanDiff): Record<string, Preview> {
  const told = Object.entries(resources).map(([id, { changes }]): [string, Preview] => {
    const of = (...kinds: readonly string[]): string[] =>
      changes
        .filter(({ kind }) => kinds.includes(kind))
        .flatMap(({ path, count = 1 }) => Array.from({ length: count }, () => path));
    const [removed, restored] = [of("added"), of("deleted")];
    const changed = changes
      .map(({ path }) => path)
      .filter((path) => !removed.includes(path) && !restored.includes(path));
    return [id, { ...FREE, changed, removed, restored }];
  });
  return Object.fromEntries(told);
}

function render(resources: Readonly<Record<string, Preview>>, { style }: Page): string[] {
  return Object.entries(resources).flatMap(([id, one]) => {
    const { action, isChecked, obstacle, changed, removed, restored } = one;
    const count = changed.length + removed.length + restored.length;
    const listed = (mark: string, paths: readonly string[]): string[] => [
      ...paths.slice(0, MOST_SHOWN).map((path) => `  ${mark} ${printable(path)}`),
      ...(paths.length > MOST_SHOWN ? [`  ${mark} and ${paths.length - MOST_SHOWN} more`] : []),
    ];
    const what =
      action === "undo"
        ? `the commit ${obstacle === null ? "would" : "cannot"} be taken back, ${countText(count, "path")}`
        : `edits in the sandbox would be forgotten, ${countText(count, "path")}`;
    return [
      `${style.bold(printable(id))}: ${what}`,
      ...(obstacle === null
        ? []
        : [
            `  ${style.bad(printable(obstacle.message))}`,
            ...(obstacle.hint === null ? [] : [`  ${printable(obstacle.hint)}`]),
          ]),
      ...(isChecked ? [] : ["  not checked: only the undo finds out what others changed there"]),
      ...listed(style.notable("~"), changed),
      ...listed(style.bad("-"), removed),
      ...listed(style.good("+"), restored),
    ];
  });
}
