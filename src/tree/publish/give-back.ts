import { type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import { StatBuffer, syncfs, throwUnlessErrno } from "../../platform/native/index.ts";
import { entryType } from "../read-entry.ts";
import type { Identity } from "../tree-entry.ts";
import { type EntryRecord, isSameContent, lookAt } from "./entry-record.ts";
import { type MovedSource, readMovePlan, returnMoves } from "./moved-sources.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import type { PublishPlace } from "./step.ts";

/** What the sandbox has again, and what it now stands on. */
export interface GivenBack {
  /**
   * The real entry of every path that the transaction touched and that is what it was before; null where nothing is
   * and nothing was. Paths at which somebody else's version stands now are left out.
   */
  readonly base: ReadonlyMap<RelativePath, Identity | null>;
  /** Files that could not go back because their place is taken or gone; they stay in the stage. */
  readonly stuck: readonly MovedSource[];
}

/**
 * Returns the files that were moved out of the sandbox, after `reverseSteps` brought them back into the stage.
 * Idempotent and durable.
 * @throws RecordDamagedError when the records cannot be trusted.
 */
export function giveBack(place: PublishPlace): GivenBack {
  using context = openContext(place);
  const plan = readMovePlan(context.stage.fd);
  const stuck = returnMoves(plan, context.stage.entries);
  if (plan.moves.length > 0) syncfs(context.stage.fd);
  return { base: presentBase(context), stuck };
}

function presentBase(context: PublishContext): Map<RelativePath, Identity | null> {
  const { list, root } = context;
  const expected = new Map<RelativePath, EntryRecord | null>();
  for (const { path, old, below, inside } of list.steps) {
    for (const [inner] of inside) expected.set(inner, null);
    for (const [inner, record] of below) expected.set(inner, record);
    expected.set(path, old);
  }
  const stat = new StatBuffer();
  const base = new Map<RelativePath, Identity | null>();
  for (const [path, old] of expected) {
    const found = identityAt(context, path, stat);
    const isOld = found === null || old === null ? found === old : isSameContent(stat, old);
    if (isOld) base.set(path, found);
  }
  for (const { path, ino } of list.folders) {
    if (path === "") stat.readFd(root.fd);
    const found = path === "" ? identity(stat) : identityAt(context, path, stat);
    if (found?.ino === ino) base.set(path, found);
  }
  return base;
}

function identityAt(
  { root }: PublishContext,
  path: RelativePath,
  stat: StatBuffer,
): Identity | null {
  try {
    return lookAt(stat, root.folders.open(parentOf(path)), nameOf(path)) ? identity(stat) : null;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
    return null;
  }
}

function identity(stat: StatBuffer): Identity {
  return {
    type: entryType(stat.type),
    ino: stat.ino,
    size: stat.sizeNumber,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
  };
}
