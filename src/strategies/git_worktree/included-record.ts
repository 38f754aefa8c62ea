import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import type { Site } from "./site.ts";

interface Stored {
  readonly paths: readonly string[];
}

const FORMAT: RecordFormat<Stored> = {
  name: "git-included",
  version: 1,
  isData: (value): value is Stored =>
    hasFields(value, {}) && Array.isArray((value as { readonly paths?: unknown }).paths),
};

const fileOf = ({ folder }: Site): string => `${folder}/included.json`;

/** The ignored files, and whole folders of such, that ever came along into a sandbox. */
export async function readIncluded(site: Site): Promise<ReadonlySet<RelativePath>> {
  const stored = await readRecord(fileOf(site), FORMAT);
  return new Set(stored?.paths as RelativePath[] | undefined);
}

/** Remembers durably what comes along, with what came before: a checkpoint may still have that. */
export async function addIncluded(site: Site, paths: Iterable<RelativePath>): Promise<void> {
  const before = await readIncluded(site);
  const all = new Set([...before, ...paths]);
  if (all.size > before.size) await writeRecord(fileOf(site), FORMAT, { paths: [...all] });
}

/** Those of the paths that came along, or lie in a folder that did. */
export function includedAmong(
  included: ReadonlySet<RelativePath>,
  paths: readonly RelativePath[],
): RelativePath[] {
  if (included.size === 0) return [];
  return paths.filter((path) => [path, ...ancestorsOf(path)].some((at) => included.has(at)));
}
