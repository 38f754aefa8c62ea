import { RecordDamagedError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import { StatBuffer, isErrno, throwUnlessErrno } from "../../platform/native/index.ts";
import { findBeneath } from "../beneath.ts";
import type { Identity } from "../tree-entry.ts";
import { lookAt } from "./entry-record.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import type { PublishPlace } from "./step.ts";

/**
 * Paths of real files that have a further name in the stage, as after a commit that made hard links and was taken back.
 * When the stage goes, their change time moves, although nobody touched them. Empty for a stage that is not there.
 */
export function findShared(place: PublishPlace): RelativePath[] {
  try {
    using context = openContext(place);
    return sharedIn(context);
  } catch (error) {
    if (error instanceof RecordDamagedError || isErrno(error, "ENOENT", "ESTALE")) return [];
    throw error;
  }
}

/** What real entries are now; null where there is none. */
export function readIdentities(request: {
  readonly root: BytePath;
  readonly paths: readonly RelativePath[];
}): Map<RelativePath, Identity | null> {
  const { root, paths } = request;
  return new Map(paths.map((path) => [path, findBeneath(root, path)]));
}

function sharedIn(context: PublishContext): RelativePath[] {
  const { steps } = context.list;
  const links = steps.flatMap((step) => step.links);
  const files = new Set(
    links
      .filter(({ staged, record }) => inodeIn(context, staged) === record.ino)
      .map(({ record }) => record.ino),
  );
  const paths = new Set<RelativePath>();
  for (const { target, record } of links) if (files.has(record.ino)) paths.add(target);
  for (const { path, old, below } of steps) {
    if (old !== null && files.has(old.ino)) paths.add(path);
    for (const [inner, record] of below) if (files.has(record.ino)) paths.add(inner);
  }
  return [...paths];
}

function inodeIn({ stage }: PublishContext, staged: RelativePath): bigint | null {
  const stat = new StatBuffer();
  try {
    return lookAt(stat, stage.entries.open(parentOf(staged)), nameOf(staged)) ? stat.ino : null;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
    return null;
  }
}
