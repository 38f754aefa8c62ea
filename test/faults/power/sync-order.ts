import type { FaultPoint } from "../../support/faults.ts";
import { type Ground, OTHER_DEVICE } from "../ground.ts";
import { Unsynced } from "./unsynced.ts";

/** Something that may be lost although a step that relies on it has begun. */
export interface MissingSync {
  /** The step. */
  readonly before: string;
  readonly path: string;
}

/** Locks and the marks of living processes mean nothing after a power loss; what is set aside is not needed. */
const NOT_NEEDED = /\/begun$|\/lock$|\/owners(\/|$)|\/tx\/\.old-| \(deleted\)$/;
/** Records, and the folders of transactions, are written under such names first. */
const DRAFT = /\.(tmp|part|new)$|\/\.new-\w+$/;
/** Written in the stage before everything there is synced at once. */
const SYNCED_WITH_STAGE = /\/tx-\w+-\d+\/steps\.part$/;
const STAGE = /^.*\/tx-\w+-\d+(?=\/|$)/;
const ENTRY = /\/tx-\w+-\d+\/entries\//;

const LAYER = /\/l\/\d+\//;
/** Everything by which recovery goes. */
const JOURNAL = /\/state\/(plans|tx|done)\/|\/state\/(tx|done)$/;
const CLEARS = "a stage is cleared away";

interface Step {
  readonly name: string;
  readonly begins: (call: string, paths: readonly string[]) => boolean;
  /** What has to be on disk by then; everything when not told. */
  readonly needs?: (path: string, paths: readonly string[]) => boolean;
  /** What it begins with only once, such as a stage. */
  readonly of?: (paths: readonly string[]) => string;
}

/** The steps that rely on what came before them, see docs/transactions-and-recovery.md. */
const STEPS: readonly Step[] = [
  {
    name: "a record gets its name",
    begins: (call, [from = ""]) =>
      /^(rename|link)/.test(call) && DRAFT.test(from) && !SYNCED_WITH_STAGE.test(from),
    needs: (path, [from]) => path === from,
  },
  {
    name: "the next record is begun",
    begins: (call, [path = ""]) =>
      call.startsWith("open") && DRAFT.test(path) && !SYNCED_WITH_STAGE.test(path),
    // Drafts are written side by side; each is looked at when it gets its name.
    needs: (path) => JOURNAL.test(path) && !DRAFT.test(path),
  },
  {
    name: "a stage is made",
    begins: (call, [path = ""]) => call.startsWith("mkdir") && stageOf([path]) === path,
    needs: (path) => JOURNAL.test(path),
  },
  {
    name: "the stage is filled from layers",
    begins: (call, [from = "", to = ""]) =>
      call.startsWith("rename") && ENTRY.test(to) && LAYER.test(from),
    needs: (path, [, to = ""]) => to.startsWith(path) && !ENTRY.test(`${path}/`),
  },
  {
    name: "it is decided",
    begins: (call, [, to = ""]) => call === "link" && to.endsWith("/decision"),
  },
  {
    name: "entries of a member are published",
    begins: (call, paths) =>
      call.startsWith("rename") &&
      paths.some((path) => ENTRY.test(path)) &&
      paths.some((path) => /\/real(\/|$)/.test(path)),
    of: stageOf,
  },
  {
    name: "the outcome is recorded",
    begins: (call, [, to = ""]) => call === "rename" && /\/state\/done\//.test(to),
  },
  {
    name: "a stage gives back to layers",
    begins: (call, [from = "", to = ""]) =>
      call.startsWith("rename") && ENTRY.test(from) && LAYER.test(to),
    needs: (path) => JOURNAL.test(path),
  },
  {
    name: "the mark of a commit is removed",
    begins: (call, [path = ""]) => call.startsWith("unlink") && path.endsWith("/committed.json"),
  },
  {
    name: CLEARS,
    begins: (call, [path = ""]) =>
      /^(unlink|rmdir)/.test(call) && STAGE.test(path) && !DRAFT.test(path),
    of: stageOf,
  },
  {
    name: "the transaction is set aside",
    begins: (call, [, to = ""]) => call === "rename" && /\/tx\/\.old-/.test(to),
  },
  {
    name: "what was set aside is removed",
    begins: (call, [path = ""]) => /^(unlink|rmdir)/.test(call) && /\/tx\/\.old-/.test(path),
    of: () => "",
  },
];

function stageOf(paths: readonly string[]): string {
  return paths.map((path) => STAGE.exec(path)?.[0]).find((stage) => stage !== undefined) ?? "";
}

/**
 * Goes through the calls of an operation, and finds what a step relies on although nothing made it durable before. Calls
 * in `without` were not done.
 */
export function missingSyncs(
  { folder, begun }: Pick<Ground, "folder" | "begun">,
  points: readonly FaultPoint[],
  without: ReadonlySet<number> = new Set(),
): readonly MissingSync[] {
  const second = `${folder}/${OTHER_DEVICE}/`;
  const cleared = new Set<string>();
  const isKept = (path: string): boolean => !NOT_NEEDED.test(path) && !cleared.has(stageOf([path]));
  const unsynced = new Unsynced({
    deviceOf: (path) => (path.startsWith(second) ? "second" : "first"),
    isNeeded: isKept,
    isLasting: (path) => isKept(path) && !DRAFT.test(path),
  });
  const missing: MissingSync[] = [];
  const begunOnce = new Set<string>();
  const first = points.findIndex(({ paths }) => paths.includes(begun)) + 1;
  for (const point of points.slice(first)) {
    const { call, paths } = point;
    for (const { name, begins, needs = () => true, of } of STEPS) {
      if (!begins(call, paths)) continue;
      const key = `${name}: ${of?.(paths) ?? point.at}`;
      if (begunOnce.has(key)) continue;
      begunOnce.add(key);
      const open = unsynced.paths.filter((path) => needs(path, paths));
      missing.push(...open.map((path) => ({ before: name, path })));
      if (name === CLEARS) cleared.add(stageOf(paths));
    }
    if (!without.has(point.at)) unsynced.meet(point);
  }
  return [...missing, ...unsynced.paths.map((path) => ({ before: "the call returns", path }))];
}
