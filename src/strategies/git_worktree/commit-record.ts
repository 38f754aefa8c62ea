import type { TransactionPart } from "../../contract/strategy.ts";
import { type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import type { CommitRecord } from "../../tree/strategy/committed-record.ts";
import type { RawChange } from "./git-output.ts";
import type { Site } from "./site.ts";

/** What is kept of a prepared or finished commit: with these three, git itself knows the rest. */
export interface GitRecord extends CommitRecord {
  /** The branch; null when HEAD names a commit itself. */
  readonly ref: string | null;
  /** The commit that the branch was at: recorded before anything moves, and brought back by an undo. */
  readonly from: string;
  readonly to: string;
  /** The sandbox's own commit. */
  readonly commit: string;
  /** Paths (latin1) that the checkout leaves out (sparse checkout). */
  readonly skipped?: readonly string[];
}

/** The folder of staged files, later of undo data. */
export function stageOf({ place }: Site, tx: TransactionPart): BytePath {
  return `${place.directory}/${nameOfPart(tx)}` as BytePath;
}

/** The name of a transaction's private files and locks. */
export function nameOfPart({ ulid, member }: TransactionPart): string {
  return `tx-${ulid}-${member}`;
}

/** The ref that keeps the objects of a commit. */
export function pinOf({ pins }: Site, ulid: string): string {
  return `${pins}/${ulid}`;
}

/** The record of a transaction; null when its `prepare` never came so far. */
export function recordOfPart({ record }: TransactionPart): GitRecord | null {
  const known = record as unknown as GitRecord | null;
  return known === null || typeof known !== "object" || known.to === undefined ? null : known;
}

/** The lists of paths for reports. */
export function pathLists(raw: readonly RawChange[]): {
  readonly added: string[];
  readonly deleted: string[];
  readonly changed: string[];
} {
  const paths = (wanted: (change: RawChange) => boolean): string[] =>
    raw.filter(wanted).map(({ path }: { readonly path: RelativePath }) => displayPath(path));
  return {
    added: paths(({ before }) => before === null),
    deleted: paths(({ after }) => after === null),
    changed: paths(({ before, after }) => before !== null && after !== null),
  };
}

/** The record as it is kept in the journal. */
export function asJson(record: GitRecord): Json {
  return { ...record };
}
