import type { RelativePath } from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import type { Step } from "./step.ts";

const GIT_FOLDER = /(?:^|\/)\.git\//g;
const OBJECTS = /(?:^|\/)objects(?:\/|$)/;
const REFERENCES = /(?:^|\/)(?:refs|logs|reftable)(?:\/|$)|(?:^|\/)(?:[A-Z_]*HEAD|packed-refs)$/;
const INDEX = /(?:^|\/)index$/;

const RANK = { objects: 0, work: 1, references: 2, index: 3, dead: 4 } as const;

/**
 * Puts steps into the order in which readers, git above all, can live with every moment in between: objects before
 * whatever names them, references and index last, objects that nobody names any more at the very end. Within a rank
 * new entries come before removals, parents before children for the former, the other way round for the latter.
 */
export function orderSteps<T extends Pick<Step, "op" | "path">>(steps: readonly T[]): T[] {
  return steps
    .map((step) => ({ step, rank: rankOf(step.path, step.op) }))
    .sort((a, b) => a.rank - b.rank || within(a.step, b.step))
    .map(({ step }) => step);
}

function within(a: Pick<Step, "op" | "path">, b: Pick<Step, "op" | "path">): number {
  const [goesA, goesB] = [a.op === "remove", b.op === "remove"];
  if (goesA !== goesB) return goesA ? 1 : -1;
  const order = compareText(a.path, b.path);
  return goesA ? -order : order;
}

function rankOf(path: RelativePath, op: Step["op"]): number {
  let inside: string | null = null;
  for (const match of path.matchAll(GIT_FOLDER)) inside = path.slice(match.index + match[0].length);
  if (inside === null) return RANK.work;
  if (OBJECTS.test(inside)) return op === "remove" ? RANK.dead : RANK.objects;
  if (REFERENCES.test(inside)) return RANK.references;
  return INDEX.test(inside) ? RANK.index : RANK.work;
}
