import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type BytePath, pathBytes } from "../../../src/model/byte-path.ts";
import type { TreeChange } from "../../../src/tree/tree-change.ts";
import type { TreeEntry } from "../../../src/tree/tree-entry.ts";
import type { Oracle, OracleRecord } from "../../support/oracle.ts";

const LETTERS = { file: "f", directory: "d", symlink: "l", special: "s" } as const;

/** What a tree must look like after these changes, given what programs other than ours saw of it before. */
export function applyChanges(before: Oracle, changes: readonly TreeChange[]): Oracle {
  const records = new Map(before.map((record) => [record.path, record]));
  const links = linkGroups(before, changes);
  for (const { path, after, source } of changes) {
    if (after === null) records.delete(path);
    else records.set(path, recordOf(path, after, source));
  }
  return [...records.values()]
    .map((record): OracleRecord => {
      const group = links.get(record.path);
      return { ...withoutLinks(record), ...(group !== undefined && { links: group }) };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function withoutLinks(record: OracleRecord): OracleRecord {
  const fields = Object.entries(record).filter(([name]) => name !== "links");
  return Object.fromEntries(fields) as unknown as OracleRecord;
}

/** An entry in the words of the oracle. */
export function recordOf(path: string, entry: TreeEntry, source: BytePath | null): OracleRecord {
  const content = entry.type === "file" && source !== null ? readFileSync(pathBytes(source)) : null;
  return {
    path,
    type: LETTERS[entry.type],
    mode: entry.mode.toString(8),
    owner: `${entry.uid}:${entry.gid}`,
    mtime: seconds(entry.mtimeNs),
    ...(content !== null && {
      size: String(entry.size),
      sha256: createHash("sha256").update(content).digest("hex"),
    }),
    ...(entry.target !== null && { target: entry.target }),
    xattrs: Object.fromEntries(
      Object.entries(entry.xattrs ?? {}).map(([name, value]) => [
        name,
        value === "" ? "" : `0x${Buffer.from(value, "latin1").toString("hex")}`,
      ]),
    ),
  };
}

function seconds(ns: bigint): string {
  return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, "0")}`;
}

/** Names that belong to one file: those that were and were not touched, and those that the changes link. */
function linkGroups(before: Oracle, changes: readonly TreeChange[]): Map<string, string[]> {
  const groups = new Map<string, Set<string>>();
  const touched = new Set<string>(changes.map(({ path }) => path));
  for (const { path, links } of before) {
    const rest = (links ?? []).filter((other) => !touched.has(other));
    if (rest.includes(path) && rest.length > 1) groups.set(path, new Set(rest));
  }
  for (const { path, linkTo, after } of changes) {
    if (linkTo === undefined || after === null) continue;
    const group = groups.get(linkTo) ?? new Set([linkTo]);
    group.add(path);
    for (const member of group) groups.set(member, group);
  }
  return new Map([...groups].map(([path, group]) => [path, [...group].toSorted()]));
}
