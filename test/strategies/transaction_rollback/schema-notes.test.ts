import { describe, expect, it } from "vitest";
import type { DiffView } from "../../../src/index.ts";
import { SHOP, makeGround } from "./fixture.ts";
import { POSTGRES, runServer } from "./servers.ts";
import { makeFiles } from "./sqlite/ground.ts";

const before = (tables: string): string =>
  `rows of ${tables} that changed before it are shown as they were then`;
const after = (tables: string): string =>
  `rows of ${tables} that changed after it are compared with what it left`;

const SETUP = `CREATE TABLE r (id int PRIMARY KEY, v int); INSERT INTO r VALUES (1, 1), (2, 2);
  CREATE TABLE other (id int PRIMARY KEY); CREATE TYPE mood AS ENUM ('good', 'bad');
  CREATE TABLE days (day int PRIMARY KEY, v int) PARTITION BY RANGE (day);
  CREATE TABLE days_old PARTITION OF days FOR VALUES FROM (0) TO (9)`;

/** Statements, and the notes on each of them that changes the schema. */
const SCRIPTS: readonly (readonly [string, readonly string[], readonly (readonly string[])[]])[] = [
  [
    "a table that is renamed between changes of its rows",
    [
      "INSERT INTO r VALUES (9, 9)",
      "ALTER TABLE r RENAME TO u",
      "UPDATE u SET v = 10 WHERE id = 9",
    ],
    [[before("public.r"), after("public.u")]],
  ],
  [
    "a column that goes and comes again",
    ["UPDATE r SET v = v + 10", "ALTER TABLE r DROP COLUMN v", "ALTER TABLE r ADD v int DEFAULT 0"],
    [[before("public.r")], [before("public.r")]],
  ],
  [
    "values that are made anew before they change",
    ["/* ; */ alter table public . R alter v type int using v * 100", "UPDATE r SET v = v + 1"],
    [[after("public.r")]],
  ],
  [
    "a table that goes with its rows",
    ["INSERT INTO other VALUES (1)", "DROP TABLE other"],
    [[before("public.other")]],
  ],
  [
    "partitions, which the statement does not name",
    ["INSERT INTO days VALUES (1, 1)", "ALTER TABLE days DROP COLUMN v"],
    [["rows that changed before it are shown as they were then"]],
  ],
  [
    "a type that any column may have",
    ["INSERT INTO r VALUES (9, 9)", "ALTER TYPE mood RENAME VALUE 'good' TO 'fine'"],
    [["rows that changed before it are shown as they were then"]],
  ],
];

/** Nothing of this gives rows another look than they are shown with. */
const HARMLESS = [
  "ALTER TABLE r ADD COLUMN w text; UPDATE r SET w = 'w'",
  "INSERT INTO r VALUES (9, 9); ALTER TABLE r DISABLE TRIGGER ALL",
  "INSERT INTO r VALUES (9, 9); ALTER TABLE other ADD COLUMN w text",
  "INSERT INTO r VALUES (9, 9); DROP TABLE other",
  "INSERT INTO r VALUES (9, 9); CREATE INDEX by_v ON r (v)",
];

describe("a diff notes on a change of the schema which rows look otherwise then", () => {
  const on = runServer(POSTGRES);

  it.each(SCRIPTS)("%s", async (_, script, notes) => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const text of script) await sandbox.write("w", text);
    const view = await sandbox.diff();
    expect(notesOf(view)).toEqual(notes);
    expect(await view.text()).toContain(`\nnote: ${notes[0]?.[0] ?? ""}\n`);
    expect((await sandbox.diff()).digest).toBe(view.digest);
  });

  it.each(HARMLESS)("and nothing after %s", async (script) => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("w", script);
    expect(notesOf(await sandbox.diff()).flat()).toEqual([]);
  });
});

it("a diff of SQLite notes it too, whatever quotes the names have", async () => {
  const files = makeFiles({ shop: 'CREATE TABLE "my [r" (id INTEGER PRIMARY KEY, v)' });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  await sandbox.write("a", 'INSERT INTO "my [r" VALUES (9, 9)');
  await sandbox.write("b", "ALTER TABLE `my [r` RENAME TO [the u]");
  await sandbox.write("c", "UPDATE 'the u' SET v = 10");
  await sandbox.write("d", "ALTER TABLE 'THE U' DROP COLUMN v");
  expect(notesOf(await sandbox.diff())).toEqual([
    [before("main.my%20%5Br"), after("main.the%20u")],
    [before("main.the%20u")],
  ]);
});

it("a literal of many megabytes in a change of the schema is no hindrance to its note", async () => {
  const files = makeFiles({ shop: "CREATE TABLE t (id INTEGER PRIMARY KEY)" });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  await sandbox.write("a", "INSERT INTO t VALUES (1)");
  await sandbox.write("b", `ALTER TABLE t ADD c DEFAULT '${"it''s long; ".repeat(800_000)}'`);
  await sandbox.write("c", "UPDATE t SET c = 'short'");
  expect(notesOf(await sandbox.diff())).toEqual([[before("main.t")]]);
});

const FINAL = "a commit of changes of the schema cannot be taken back";

/** The notes on each change of the schema, without the one that all such diffs have on the first of them. */
function notesOf({ changes }: DiffView): readonly (readonly string[])[] {
  const statements = changes.filter(({ path }) => path.startsWith("schema-changes/"));
  const [first = [], ...others] = statements.map(({ notes = [] }) => notes);
  expect(first.at(-1)).toBe(FINAL);
  return [first.slice(0, -1), ...others];
}
