import type { Cofferdam, DiffView, PlanDiff } from "../../index.ts";
import { summarizeChanges } from "../../light.ts";
import { pageFor } from "../call.ts";
import type { Call, Page } from "../call.ts";
import { meantBy, within } from "../changed-paths.ts";
import { modeOf } from "../describe-plan.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isWithoutWork } from "../is-without-work.ts";
import { isOffered, knownPlan, openFor } from "../open-plan.ts";
import type { KnownPlan } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { contentOf } from "../render/content.ts";
import { printable } from "../render/printable.ts";
import { isWanted } from "../render/rows.ts";
import { renderSummary } from "../render/summary.ts";
import { renderTree } from "../render/tree.ts";
import { findMember, refuseAddress } from "../resource-argument.ts";
import { showPaged } from "../terminal/pager.ts";
import { usageError } from "../usage-error.ts";

/** With more changes than this the overview is shown, and the whole on request. */
const MOST_SHOWN = 100;

/** One resource of the answer: what would be committed, and which paths of it are asked for. */
interface Part {
  readonly id: string;
  readonly view: DiffView;
  /** Undefined for all. */
  readonly paths: readonly string[] | undefined;
}

/** `coffer diff`: what a commit would publish. */
export async function showDiff(call: Call): Promise<ExitCode> {
  if (["stat", "patch", "nameOnly"].filter((name) => call.flag(name)).length > 1)
    throw usageError("--stat, --patch and --name-only exclude each other");
  await using cofferdam = await openFor(call, { looking: true });
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const work = known.plan.diff({ signal: call.signal });
  const diff = await withProgress(call, "Comparing", work);
  const parts = partsOf(known, diff, call);
  if (call.json) {
    call.answerJson(jsonOf(known, diff, parts));
    return EXIT.done;
  }
  await showPaged(await linesOf(call, diff, parts, pageFor(process.stdout)));
  tellNext(call, diff, parts, await canDrop(cofferdam, known, parts));
  return EXIT.done;
}

function partsOf(known: KnownPlan, diff: PlanDiff, call: Call): Part[] {
  const given = call.text("resource");
  const member = given === undefined ? undefined : findMember(given, known.sandboxes);
  const texts = [
    ...(given === undefined || member !== undefined ? [] : [given]),
    ...call.texts("path"),
  ];
  const parts = known.sandboxes
    .filter(({ ref }) => member === undefined || member.ref.resourceId === ref.resourceId)
    .flatMap(({ ref, resource }): Part[] => {
      const view = diff.resources[ref.resourceId];
      if (view === undefined) return [];
      const paths =
        texts.length === 0
          ? undefined
          : texts
              .flatMap((text) => within(text, resource.location))
              .flatMap((path) => meantBy(view.changes, path) ?? []);
      const isAsked = paths === undefined || view.changes.some(({ path }) => isWanted(path, paths));
      return isAsked ? [{ id: ref.resourceId, view, paths }] : [];
    });
  if (given !== undefined && member === undefined && parts.length === 0) refuseAddress(given);
  return parts;
}

/** Whether a part of what is shown can be taken back. */
async function canDrop(
  cofferdam: Cofferdam,
  { sandboxes }: KnownPlan,
  parts: readonly Part[],
): Promise<boolean> {
  const changed = parts.filter(({ view }) => view.changes.length > 0).map(({ id }) => id);
  const shown = sandboxes.filter(({ ref }) => changed.includes(ref.resourceId));
  return isOffered(cofferdam, shown, "drops");
}

function jsonOf(
  { sandboxes }: KnownPlan,
  { planId, digest }: PlanDiff,
  parts: readonly Part[],
): unknown {
  return {
    planId,
    digest,
    sandboxes: parts.map(({ id, view, paths }) => {
      const ref = sandboxes.find(({ ref: { resourceId } }) => resourceId === id)!.ref;
      const { changes, summary } = limited(view, paths);
      return {
        resourceId: id,
        strategyName: ref.strategyName,
        mode: modeOf(ref),
        changes,
        ...(view.commits !== undefined && { commits: view.commits }),
        ...(view.strayCommits !== undefined && { strayCommits: view.strayCommits }),
        summary: { ...summary, skipped: view.skipped.length },
      };
    }),
  };
}

async function linesOf(
  call: Call,
  diff: PlanDiff,
  parts: readonly Part[],
  page: Page,
): Promise<string[]> {
  if (parts.length === 0 && call.text("resource") !== undefined) return [];
  if (call.flag("nameOnly")) return parts.flatMap((part) => namesOf(part, parts.length > 1));
  if (call.flag("stat"))
    return parts.flatMap(({ id, view, paths }) => renderTree(id, limited(view, paths), page));
  const isPatch = call.flag("patch");
  const shown = parts.map(({ id, view, paths }) => [id, limited(view, paths)] as const);
  const count = shown.reduce((sum, [, view]) => sum + view.changes.length, 0);
  const resources = Object.fromEntries(shown);
  const isEmpty = count === 0;
  const overview = isPatch
    ? []
    : renderSummary({ ...diff, resources, isEmpty }, page.style, page.width);
  if (!isPatch && count > MOST_SHOWN) return overview;
  const lines = isPatch ? [] : [...overview];
  for (const part of parts) {
    if (lines.length > 0 && !part.view.isEmpty) lines.push("");
    lines.push(...(await contentOf(part.view, part.paths, page)));
  }
  return lines;
}

function namesOf({ id, view, paths }: Part, isOneOfMany: boolean): string[] {
  const names = view.changes.map(({ path }) => path).filter((path) => isWanted(path, paths));
  return names.map((name) => printable(isOneOfMany ? `${id}:${name}` : name));
}

function limited(view: DiffView, paths: readonly string[] | undefined): DiffView {
  if (paths === undefined) return view;
  const changes = view.changes.filter(({ path }) => isWanted(path, paths));
  return { ...view, changes, summary: summarizeChanges(changes), isEmpty: changes.length === 0 };
}

function tellNext(call: Call, diff: PlanDiff, parts: readonly Part[], isDroppable: boolean): void {
  const name = quoted(diff.planId);
  const given = call.text("resource");
  if (parts.length === 0 && given !== undefined)
    call.tell(`Nothing is changed at ${printable([given, ...call.texts("path")].join(" "))}.`);
  if (isWithoutWork(diff)) return;
  const count = parts.reduce((sum, { view }) => sum + view.changes.length, 0);
  const isPart = count > MOST_SHOWN && !call.flag("patch") && !call.flag("nameOnly");
  call.suggest(
    ...(isPart
      ? [
          [`coffer diff ${name} --patch`, "all of it"] as const,
          [`coffer diff ${name} --name-only`, "every path"] as const,
        ]
      : []),
    [`coffer commit ${name}`, "publish it, all or nothing"],
    ...(isDroppable ? [[`coffer drop ${name} PATH`, "take a part of it back"] as const] : []),
    [`coffer rollback ${name}`, "discard it"],
  );
}
