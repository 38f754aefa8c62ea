import { type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import { StatBuffer, isErrno, syncfs } from "../../platform/native/index.ts";
import { entryType } from "../read-entry.ts";
import type { Identity } from "../tree-entry.ts";
import { lookAt } from "./entry-record.ts";
import { type MovedSource, readMovePlan, returnMoves } from "./moved-sources.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import type { PublishPlace } from "./step.ts";

/** What the sandbox has again, and what it now stands on. */
export interface GivenBack {
  /** The real entry of every path that the transaction touched; null where there is none. */
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
  const paths = new Set<RelativePath>();
  for (const { path, below, inside } of list.steps) {
    paths.add(path);
    for (const [inner] of below) paths.add(inner);
    for (const [inner] of inside) paths.add(inner);
  }
  const stat = new StatBuffer();
  const base = new Map<RelativePath, Identity | null>();
  for (const path of paths) base.set(path, identityAt(context, path, stat));
  for (const { path } of list.folders) {
    if (path === "") {
      stat.readFd(root.fd);
      base.set(path, identity(stat));
    } else base.set(path, identityAt(context, path, stat));
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
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return null;
    throw error;
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
