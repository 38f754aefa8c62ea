import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "../../src/index.ts";
import { takeOracle } from "../support/oracle.ts";
import type { PostgresServer, TestDatabase } from "../support/postgres-server.ts";
import { shell } from "../strategies/shell.ts";
import { git, gitState } from "../strategies/git_worktree/checkout.ts";

/** One real resource of a mixed plan. */
export interface Member {
  readonly id: string;
  readonly type: string;
  readonly location: string;
  readonly sandboxStrategy?: string;
  /** Edits the sandbox, for the first or a further time. */
  readonly edit: (sandbox: Sandbox, value: "new" | "later") => Promise<unknown>;
  /** Everything about the resource that a commit could change, as foreign programs see it. */
  readonly look: () => string;
  /** What the resource has where the sandbox was edited. */
  readonly value: () => string;
  /** Changes the same place as somebody else, so that a commit cannot succeed. */
  readonly disturb: () => void;
}

/** Where members are made. */
export interface Yard {
  readonly folder: string;
  readonly server: PostgresServer;
  readonly database: TestDatabase;
}

function directory(strategy: string): (yard: Yard) => Member {
  return ({ folder }) => {
    const location = join(folder, strategy);
    shell(folder, `mkdir -p '${strategy}/sub'; cd '${strategy}'; echo old > a; echo old > sub/b`);
    return {
      id: strategy,
      type: "fs-directory",
      location,
      sandboxStrategy: strategy,
      edit: async (sandbox, value) => {
        await sandbox.write("a", `${value}\n`);
        await sandbox.write(`made-${value}/c`, `${value}\n`);
      },
      look: () => JSON.stringify(takeOracle(location)),
      value: () => readFileSync(join(location, "a"), "utf8").trim(),
      disturb: () => writeFileSync(join(location, "a"), "theirs\n"),
    };
  };
}

function repository({ folder }: Yard): Member {
  const location = join(folder, "git");
  const identity = "git config user.name Tess; git config user.email tess@example.invalid";
  shell(
    folder,
    `git init -q -b main git; cd git; ${identity}; echo old > a; git add -A; git commit -qm first`,
  );
  return {
    id: "git",
    type: "git-repository",
    location,
    edit: async (sandbox, value) => {
      await sandbox.write("a", `${value}\n`);
      await sandbox.write(`made-${value}/c`, `${value}\n`);
    },
    look: () =>
      `${gitState(location)}\n${JSON.stringify(takeOracle(location, { exclude: [".git"] }))}`,
    value: () => git(location, "show", "HEAD:a"),
    disturb: () => {
      shell(location, "echo theirs > a; git commit -qam theirs");
    },
  };
}

function postgres({ server, database }: Yard): Member {
  server.sql(
    database,
    `CREATE TABLE kinds (id int PRIMARY KEY, state text NOT NULL);
     CREATE TABLE parts (id int PRIMARY KEY, kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED);
     INSERT INTO kinds VALUES (1, 'old')`,
  );
  const rows = (): string =>
    server
      .sql(database, "SELECT * FROM kinds ORDER BY id; SELECT * FROM parts ORDER BY id")
      .join("\n");
  return {
    id: "postgres",
    type: "database",
    location: "main",
    edit: (sandbox, value) =>
      sandbox.write(
        value,
        `UPDATE kinds SET state = '${value}' WHERE id = 1;
         INSERT INTO parts VALUES (${value.length}, 1)`,
      ),
    look: () => [rows(), ...server.sql("postgres", "SELECT gid FROM pg_prepared_xacts")].join("\n"),
    value: () => server.sql(database, "SELECT state FROM kinds WHERE id = 1")[0] ?? "",
    disturb: () => {
      server.sql(database, "UPDATE kinds SET state = 'theirs' WHERE id = 1");
    },
  };
}

/** How each kind of resource is made. */
export const KINDS: Readonly<Record<string, (yard: Yard) => Member>> = {
  overlay: directory("overlay"),
  copy: directory("copy_on_write"),
  git: repository,
  postgres,
};

/** All choices of so many kinds. */
export function choicesOf(count: number): string[][] {
  const choose = (names: readonly string[], left: number): string[][] =>
    left === 0
      ? [[]]
      : names.flatMap((name, at) =>
          choose(names.slice(at + 1), left - 1).map((rest) => [name, ...rest]),
        );
  return choose(Object.keys(KINDS), count);
}
