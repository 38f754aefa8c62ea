import { DriftError } from "../engine.ts";
import { isLocked } from "./codes.ts";
import { commitParts, openPlace } from "./commit.ts";
import { compareDatabases } from "./compare.ts";
import { copyDatabase } from "./copy-database.ts";
import {
  decide,
  decisionOf,
  forgetDecision,
  openDecision,
  rollBack,
  withdrawDecision,
} from "./decisions.ts";
import type { Library } from "./library.ts";
import { identityOf, openFile, openToLook, requireFit } from "./open-file.ts";
import type { DatabaseFile, DecisionPlace, Question, Requests } from "./protocol.ts";
import { answer } from "./query.ts";
import { recordScript } from "./record.ts";
import { redo } from "./redo.ts";
import type { Session } from "./session.ts";
import { removeSuperJournals, settleFile, settleJournal } from "./settle-crash.ts";
import { refuseEncoding, violations } from "./checks.ts";

type Handlers = {
  readonly [Kind in keyof Requests]: (
    library: Library,
    about: Requests[Kind][0],
  ) => Requests[Kind][1] | Promise<Requests[Kind][1]>;
};

const HANDLERS: Handlers = {
  wake: () => null,
  inspect: (library, { file }) => {
    requireFit(file.path);
    using session = openFile(library, file);
    refuseEncoding(session, file.path);
    const version = String(session.value("SELECT sqlite_version()"));
    return { version, identity: identityOf(file.path), isWal: session.isWal() };
  },
  record: (library, { file, log, script }) =>
    looking(library, file, log.length > 0 || script !== "", (session) => {
      redo(session, "main", log, "forward");
      session.exec("PRAGMA defer_foreign_keys = OFF");
      return recordScript(session, script);
    }),
  read: (library, { file, log, query }) =>
    looking(library, file, log.length > 0, (session) => {
      redo(session, "main", log, "forward");
      return answer(session, query);
    }),
  attempt: (library, { file, log, direction }) =>
    looking(library, file, true, (session) => {
      const before = violations(session);
      redo(session, "main", log, direction);
      if (file.foreignKeys && violations(session) > before)
        throw new DriftError("A foreign key would be violated", []);
      return null;
    }),
  copy: async (library, about) => {
    await copyDatabase(library, about);
    return null;
  },
  compare: (library, about) => compareDatabases(library, about),
  open: (library, { place, name }) => {
    using session = openPlace(library, place);
    openDecision(session, name);
    return null;
  },
  commit: (library, about) => {
    commitParts(library, about);
    return null;
  },
  decide: (library, { place, name }) =>
    deciding(library, place, (session) => decide(session, name)),
  decisionOf: (library, { place, name }) =>
    deciding(library, place, (session) => decisionOf(session, name)),
  forget: (library, { place, name }) => {
    using session = openPlace(library, place);
    forgetDecision(session, name, place.own === null ? "" : (place.file.identity ?? ""));
    return null;
  },
  withdraw: (library, { place, name }) => {
    using session = openPlace(library, place);
    withdrawDecision(session, name);
    return null;
  },
};

/** Does what is asked. */
export async function answerQuestion<Kind extends keyof Requests>(
  library: Library,
  { kind, about }: Question<Kind>,
): Promise<Requests[Kind][1]> {
  try {
    return await HANDLERS[kind](library, about);
  } catch (thrown) {
    if (!isLocked(thrown)) throw thrown;
    const conflict = {
      path: "main",
      reason: "locked",
      base: null,
      theirs: null,
      ours: null,
    } as const;
    throw new DriftError("The database is locked by another program", [conflict], thrown);
  }
}

/** Works in a transaction that is rolled back; others may write meanwhile unless rows are changed in it. */
function looking<T>(
  library: Library,
  file: DatabaseFile,
  isChanging: boolean,
  work: (session: Session) => T,
): T {
  using session = openToLook(library, file);
  session.exec(isChanging ? "BEGIN IMMEDIATE" : "BEGIN");
  try {
    return work(session);
  } finally {
    rollBack(session);
  }
}

/** Looks at a decision, and settles what a crash left of the database that it is about. */
function deciding<T>(library: Library, place: DecisionPlace, work: (session: Session) => T): T {
  using session = openPlace(library, place);
  const result = work(session);
  if (place.own !== null) {
    settleFile(library, place.file.path);
    settleJournal(session, place.own);
    removeSuperJournals(session, place.own);
  }
  return result;
}
