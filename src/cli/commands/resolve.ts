import { SandboxPathError } from "../../light.ts";
import type { PlanDiff } from "../../index.ts";
import type { Call } from "../call.ts";
import { changedPaths } from "../changed-paths.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { withProgress } from "../progress.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { usageError } from "../usage-error.ts";

const SIDES = ["mine", "theirs", "merge"] as const;

const TOLD = {
  mine: "Your version will be published over what is there now",
  theirs: "What is there now stays; your edits were taken back",
  merge: "The commit will have both sides",
} as const;

/** `coffer resolve`: settles conflicts, so that the next commit goes through. */
export async function resolveConflicts(call: Call): Promise<ExitCode> {
  const [how, second] = SIDES.filter((side) => call.flag(side));
  if (how === undefined || second !== undefined)
    throw usageError("give one of --mine, --theirs and --merge");
  await using cofferdam = await openFor(call);
  const known = await knownPlan(cofferdam, call.needed("plan"));
  const { plan } = known;
  const { signal } = call;
  const texts = call.texts("path");
  const before = await plan.diff({ signal });
  const wanted = changedPaths(known, before, texts);
  for (const { resourceId, paths } of wanted)
    await withProgress(call, "Settling", plan.resolve(resourceId, paths, how, { signal }));
  const name = quoted(plan.id);
  const after = how === "theirs" ? await plan.diff({ signal }) : null;
  const all = wanted.map(({ resourceId, changes }) => {
    const paths = changes.map(({ path }) => path);
    if (after === null) return { resourceId, paths, kept: [] };
    const edited = new Set(pathsOf(after, resourceId));
    // A rename is taken back as a whole, whichever of its names was given.
    const taken = pathsOf(before, resourceId).filter((path) => !edited.has(path));
    return { resourceId, paths: taken, kept: paths.filter((path) => edited.has(path)) };
  });
  const kept = all.flatMap((one) => one.kept);
  if (kept.length > 0 && all.every(({ paths }) => paths.length === 0))
    throw noConflict(plan.id, texts);
  const resolved = all.map(({ resourceId, paths }) => ({ resourceId, paths }));
  if (call.json) call.answerJson({ planId: plan.id, how, resolved });
  call.tell(`${TOLD[how]}: ${namesOf(all.flatMap(({ paths }) => paths))}.`);
  if (kept.length > 0)
    call.tell(`Nobody else changed the same there, so these edits stay: ${namesOf(kept)}.`);
  call.suggest(
    ...(how === "merge" ? [[`coffer diff ${name}`, "look at the merge"] as const] : []),
    [`coffer commit ${name}`, "publish it, all or nothing"],
  );
  return EXIT.done;
}

function pathsOf(diff: PlanDiff, resourceId: string): string[] {
  return diff.resources[resourceId]?.changes.map(({ path }) => path) ?? [];
}

const SHOWN = 5;

function namesOf(paths: readonly string[]): string {
  const names = paths.slice(0, SHOWN).map((path) => printable(path || "."));
  return `${names.join(", ")}${paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ""}`;
}

function noConflict(planId: string, texts: readonly string[]): SandboxPathError {
  const path = texts.join(" ");
  return new SandboxPathError(`Nobody else changed the same at ${path}: your edits stay`, {
    data: { path, reason: "unchanged" },
    operation: "resolve",
    planId,
    hint: `\`coffer drop ${quoted(planId)} ${texts.map(quoted).join(" ")}\` takes them back.`,
  });
}
