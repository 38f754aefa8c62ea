/** What an entry of a tree is. Special covers FIFOs, sockets and devices. */
export type EntryType = "file" | "directory" | "symlink" | "special";

/** One side of a change. */
export interface EntryState {
  readonly type: EntryType;
  /** Bytes of content; 0 for directories. */
  readonly size: number;
  /** Permission bits including setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** SHA-256 of a file's content in hex, the commit of a submodule of git; null where there is none or it is not known. */
  readonly hash: string | null;
  /** Text of a symbolic link; null for everything else. */
  readonly target: string | null;
  /** Modification time, nanoseconds since the epoch as a decimal string. */
  readonly mtimeNs: string;
  /** Extended attributes (ACLs included), name to base64 value; left out when there are none. */
  readonly xattrs?: Readonly<Record<string, string>>;
}

/** Kinds of change; `unchanged` comes only from `write`. */
export const CHANGE_KINDS = [
  "added",
  "modified",
  "deleted",
  "typeChanged",
  "modeChanged",
  "linkChanged",
  "attributesChanged",
  "unchanged",
] as const;

/** What happened to a path. */
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One changed path: what `write` returns and what `diff` lists. */
export interface Change {
  /** Relative to the resource's root, `/` between parts, as text. */
  readonly path: string;
  /** The exact bytes in hex, only when the name is not valid UTF-8. */
  readonly pathBytes?: string;
  readonly kind: ChangeKind;
  readonly before: EntryState | null;
  readonly after: EntryState | null;
  /** How many equal rows of a table without a key are added or deleted; left out for one. */
  readonly count?: number;
  /** On an added path: where the same entry was before. */
  readonly renamedFrom?: string;
  /** On a deleted path: where the same entry is now. */
  readonly renamedTo?: string;
  /** What a reader should know, such as a hard link that was split or a link that points outside. */
  readonly notes?: readonly string[];
  /** UTC time of the call, only from `write`. */
  readonly at?: string;
}

/** The same type under its other name. */
export type DiffEntry = Change;

/** Something that was seen and left alone. */
export interface SkippedEntry {
  readonly path: string;
  readonly pathBytes?: string;
  readonly reason: "fifo" | "socket" | "device" | "otherMount" | "excluded" | "unsupported";
}
