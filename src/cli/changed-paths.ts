import { relative, resolve } from "node:path";
import { SandboxPathError } from "../light.ts";
import type { Change, PathInput, PlanDiff } from "../index.ts";
import { isAtOrBelow } from "./is-at-or-below.ts";
import type { KnownPlan } from "./open-plan.ts";
import { printable } from "./render/printable.ts";
import { findMember, refuseAddress } from "./resource-argument.ts";
import { type UsageError, usageError } from "./usage-error.ts";

/** Paths with edits, in one resource of a plan. */
export interface ChangedPaths {
  readonly resourceId: string;
  readonly paths: readonly PathInput[];
  /** The edits at these paths and below them. */
  readonly changes: readonly Change[];
  /** What stands for another path of the diff in a call. */
  readonly exact: (path: string) => PathInput;
}

interface Selection {
  readonly resourceId: string;
  readonly path: string;
}

/**
 * What `[RESOURCE:]PATH` of the command line means: a path as the diff shows it, or as it lies below the resource from
 * where the user stands.
 * @throws SandboxPathError (`unchanged`) when there is no edit; UsageError when several resources have one, or for the
 *   URL of a server.
 */
export function changedPaths(
  known: KnownPlan,
  diff: PlanDiff,
  texts: readonly string[],
): ChangedPaths[] {
  const selections = texts.map((text) => selectionOf(known, diff, text));
  const ids = [...new Set(selections.map(({ resourceId }) => resourceId))];
  return ids.map((resourceId) => {
    const all = diff.resources[resourceId]?.changes ?? [];
    const wanted = selections.filter((one) => one.resourceId === resourceId);
    const isWanted = ({ path }: Change): boolean =>
      wanted.some((one) => isAtOrBelow(path, one.path));
    const exact = exactPaths(all);
    const paths = wanted.map(({ path }) => exact(path));
    return { resourceId, paths, changes: all.filter(isWanted), exact };
  });
}

function selectionOf(known: KnownPlan, diff: PlanDiff, text: string): Selection {
  const candidates = known.sandboxes.flatMap(({ ref: { resourceId }, resource }) => {
    const own = ownPath(known, resourceId, text);
    const isNamed = findMember(text, known.sandboxes)?.ref.resourceId === resourceId;
    // What names a whole resource need not be a path of it: that of a database has rows.
    const below = isNamed
      ? [...within(text, resource.location), ""]
      : within(text, resource.location);
    const paths = own === null ? below : [own];
    const changes = diff.resources[resourceId]?.changes ?? [];
    const [path] = paths.flatMap((one) => meantBy(changes, one) ?? []);
    return path === undefined ? [] : [{ resourceId, path }];
  });
  const [first, second] = candidates;
  if (first === undefined) {
    if (!namesMember(known, text)) refuseAddress(text);
    throw unchanged(known, text);
  }
  if (second === undefined) return first;
  const ids = candidates.map(({ resourceId }) => resourceId);
  throw usageError(
    `'${text}' is changed in several resources: ${ids.join(", ")}`,
    `Say which one, as in ${ids[0]}:${text}`,
  );
}

/** The path behind `RESOURCE:`, when it names this resource; null when the text names none at all. */
function ownPath(known: KnownPlan, resourceId: string, text: string): string | null {
  const named = pathBehind(known, text);
  if (named === undefined) return null;
  // A path that no resource can have is no candidate anywhere else.
  return named.resourceId === resourceId ? named.path : "\0";
}

function namesMember(known: KnownPlan, text: string): boolean {
  return pathBehind(known, text) !== undefined || findMember(text, known.sandboxes) !== undefined;
}

function pathBehind({ sandboxes }: KnownPlan, text: string): Selection | undefined {
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    const member = findMember(text.slice(0, at), sandboxes);
    if (member === undefined) continue;
    return { resourceId: member.ref.resourceId, path: plain(text.slice(at + 1)) };
  }
  return undefined;
}

/** A path as it stands in a diff: as it was given, and as it lies below the resource. */
export function within(text: string, location: string): string[] {
  const [own, at] = [plain(text), resolve(text)];
  const below = isInside(at, location) ? [relative(location, at)] : [];
  // A dot is where the user stands, which may be a part of the resource, or a folder around it.
  if (own !== "") return [own, ...below];
  return isInside(location, at) ? [""] : below;
}

/**
 * The path of a diff that a text means: its own, or that of a name which cannot be shown as it is; undefined when nothing
 * is changed there.
 * @throws UsageError when several names are shown so.
 */
export function meantBy(changes: readonly Change[], text: string): string | undefined {
  if (changes.some(({ path }) => isAtOrBelow(path, text))) return text;
  const depth = text.split("/").length;
  const shownSo = changes.filter(({ path }) => isAtOrBelow(printable(path), text));
  const [first, second] = new Set(
    shownSo.map(({ path }) => path.split("/").slice(0, depth).join("/")),
  );
  if (second !== undefined) throw lookAlikes(text);
  return first;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../");
}

function plain(text: string): string {
  return text
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/+$/, "")
    .replace(/^\.$/, "");
}

/**
 * Gives the exact bytes where the name on the screen is not all of it.
 * @throws UsageError when several names look the same there.
 */
function exactPaths(changes: readonly Change[]): (path: string) => PathInput {
  const shown = new Map<string, Change[]>();
  for (const change of changes) shown.set(change.path, [...(shown.get(change.path) ?? []), change]);
  return (path) => {
    const [first, second] = shown.get(path) ?? [];
    if (second !== undefined) throw lookAlikes(path);
    return first?.pathBytes === undefined ? path : Buffer.from(first.pathBytes, "hex");
  };
}

function lookAlikes(path: string): UsageError {
  return usageError(
    `several changed names look like ${path}: they are no valid text`,
    "Name the folder that they are in, or give them other names in the sandbox.",
  );
}

function unchanged({ plan }: KnownPlan, text: string): SandboxPathError {
  return new SandboxPathError(`Nothing is changed at ${text}`, {
    data: { path: text, reason: "unchanged" },
    operation: "diff",
    planId: plan.id,
    hint: `\`coffer diff ${plan.id} --name-only\` lists what is.`,
  });
}
