import type { Ground } from "../ground.ts";
import type { TreeState } from "../tree.ts";
import type { WorldMember } from "./member.ts";

/** What the statements leave, worked out by hand. */
const ROWS: Readonly<Record<TreeState, readonly string[]>> = {
  old: ["kind 1 old", "kind 2 old", "kind 3 old", "part 1 of 1"],
  edited: ["kind 1 edited", "kind 2 old", "kind 4 made", "part 1 of 1", "part 2 of 4"],
  later: ["kind 1 later", "kind 2 old", "kind 4 later", "part 1 of 1"],
};

/** The rows of the old state. */
export const OLD_ROWS = `
  INSERT INTO kinds VALUES (1, 'old'), (2, 'old'), (3, 'old');
  INSERT INTO parts VALUES (1, 1);
`;

const FIRST = "UPDATE kinds SET state = 'edited' WHERE id = 1";
const [PART, KIND] = ["INSERT INTO parts VALUES (2, 4)", "INSERT INTO kinds VALUES (4, 'made')"];
const GONE = "DELETE FROM kinds WHERE id = 3";
const LATER = "UPDATE kinds SET state = 'later' WHERE id IN (1, 4); DELETE FROM parts WHERE id = 2";
const THEIRS = "UPDATE kinds SET state = 'theirs' WHERE id = ";

/** A database in which somebody else may be at work. */
export interface DatabaseMember extends WorldMember {
  /** Somebody else writes into a row; false when it is locked. */
  readonly writeRow: (ground: Ground, id: number) => boolean;
  /** In which state it is when somebody has written into that row meanwhile. */
  readonly stateBeside: (ground: Ground, id: number) => TreeState;
}

/** What differs between kinds of databases. */
export interface DatabaseKind extends Required<
  Pick<WorldMember, "id" | "make" | "connection" | "unsettled" | "leftovers">
> {
  /** The name of the connection. */
  readonly location: string;
  /** Whether a row may come before the one that it refers to. */
  readonly canDefer: boolean;
  /** Gives every row as one column `line`, in order; tables are `kinds (id, state)` and `parts (id, kind)`. */
  readonly query: string;
  /** What a program that is not ours answers, one text a row. */
  readonly sql: (ground: Ground, statements: string) => readonly string[];
  /** A line that makes that program give up soon when something is locked. */
  readonly impatiently: string;
}

/** The statements that edit such a database, for the first or a further time. */
export function editsOf({
  canDefer,
}: Pick<DatabaseKind, "canDefer">): Readonly<Record<Exclude<TreeState, "old">, string>> {
  const made = canDefer ? [PART, KIND] : [KIND, PART];
  return { edited: [FIRST, ...made, GONE].join("; "), later: LATER };
}

/** A database of some kind as a member of plans. */
export function databaseMember(kind: DatabaseKind): DatabaseMember {
  const rowsOf = (ground: Ground): readonly string[] => kind.sql(ground, kind.query);
  const edits = editsOf(kind);
  return {
    id: kind.id,
    make: kind.make,
    resource: () => ({ type: "database", location: kind.location }),
    connection: kind.connection,
    edit: (sandbox, to) => sandbox.write(`${to}.sql`, edits[to]),
    stateOf: (ground) => stateOfRows(rowsOf(ground), ["old", "edited"]),
    stateOfSandbox: async (_ground, sandbox) => {
      const bytes = await sandbox.read(kind.query);
      const rows = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly line: string }[];
      const lines = rows.map(({ line }) => line);
      return stateOfRows(lines, ["old", "edited", "later"]);
    },
    writeRow: (ground, id) => {
      try {
        kind.sql(ground, `${kind.impatiently}\n${THEIRS}${id}`);
        return true;
      } catch (error) {
        if (/\block/i.test(String(error))) return false;
        throw error;
      }
    },
    stateBeside: (ground, id) => {
      const lines = rowsOf(ground);
      const theirs = `kind ${id} theirs`;
      if (!lines.includes(theirs)) throw new Error(`a row is lost: ${lines.join(", ")}`);
      const possible = (["old", "edited"] as const).filter((state) => {
        const expected = ROWS[state].map((line) =>
          line.startsWith(`kind ${id} `) ? theirs : line,
        );
        return expected.join("\n") === lines.join("\n");
      });
      return possible[0] ?? stateOfRows(lines, []);
    },
    look: (ground) => rowsOf(ground).join("\n"),
    unsettled: kind.unsettled,
    leftovers: kind.leftovers,
  };
}

function stateOfRows<State extends TreeState>(
  lines: readonly string[],
  possible: readonly State[],
): State {
  const found = possible.find((state) => ROWS[state].join("\n") === lines.join("\n"));
  if (found === undefined) throw new Error(`the rows are a mixture: ${lines.join(", ")}`);
  return found;
}
