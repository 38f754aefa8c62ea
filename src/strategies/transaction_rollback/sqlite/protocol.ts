import type { Direction, RecordedStatements, RowConflict } from "../engine.ts";
import type { LoggedWrite } from "../log-entry.ts";
import type { Decision } from "./decisions.ts";

/** A database file with the settings of its connection. */
export interface DatabaseFile {
  readonly path: string;
  readonly foreignKeys: boolean;
  /** Which database it has to be; null while there is no log. */
  readonly identity: string | null;
}

/** What a file said about itself. */
export interface FileFacts {
  readonly version: string;
  readonly identity: string;
  readonly isWal: boolean;
}

/** One database in a commit. */
export interface CommitPart {
  readonly file: DatabaseFile;
  readonly log: readonly LoggedWrite[];
}

/** Where decisions stand: in a file of our own for all databases together, or in the one database itself. */
export type DecisionPlace =
  | { readonly own: string; readonly file: DatabaseFile }
  | { readonly own: null; readonly file: DatabaseFile };

/** What the process for SQLite can be asked, with its answers. */
export interface Requests {
  /** Whether anybody is there. */
  wake: [null, null];
  inspect: [{ readonly file: DatabaseFile }, FileFacts];
  record: [
    { readonly file: DatabaseFile; readonly log: readonly LoggedWrite[]; readonly script: string },
    RecordedStatements,
  ];
  read: [
    { readonly file: DatabaseFile; readonly log: readonly LoggedWrite[]; readonly query: string },
    string,
  ];
  attempt: [
    {
      readonly file: DatabaseFile;
      readonly log: readonly LoggedWrite[];
      readonly direction: Direction;
    },
    null,
  ];
  copy: [
    { readonly file: DatabaseFile; readonly log: readonly LoggedWrite[]; readonly target: string },
    null,
  ];
  compare: [
    { readonly before: string; readonly after: string; readonly foreignKeys: boolean },
    RecordedStatements,
  ];
  open: [{ readonly place: DecisionPlace; readonly name: string }, null];
  commit: [
    {
      readonly place: DecisionPlace;
      readonly name: string;
      readonly parts: readonly CommitPart[];
      readonly direction: Direction;
    },
    null,
  ];
  decide: [{ readonly place: DecisionPlace; readonly name: string }, Decision];
  decisionOf: [{ readonly place: DecisionPlace; readonly name: string }, Decision | null];
  forget: [{ readonly place: DecisionPlace; readonly name: string }, null];
  withdraw: [{ readonly place: DecisionPlace; readonly name: string }, null];
}

/** What is sent for a request. */
export interface Question<Kind extends keyof Requests = keyof Requests> {
  readonly kind: Kind;
  readonly about: Requests[Kind][0];
}

/** What was thrown, as far as it crosses the border of a process. */
export interface Thrown {
  readonly message: string;
  /** The code of an error of the family; null for any other. */
  readonly code: string | null;
  readonly hint: string | null;
  readonly data: unknown;
  /** The rows that are not as the log found them; null when that is not the matter. */
  readonly conflicts: readonly RowConflict[] | null;
  /** The identity of the database that they are in, where that is known. */
  readonly database: string | null;
}

/** What comes back; after the last answer the process has to be ended, because it could not let go of a file. */
export type Answer = { readonly isLast: boolean } & (
  { readonly value: unknown } | { readonly thrown: Thrown }
);

/** One line of what is told; newer Node takes two more characters for ends of lines than JSON does. */
export function lineOf(told: unknown): string {
  const text = JSON.stringify(told).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return `${text}\n`;
}
