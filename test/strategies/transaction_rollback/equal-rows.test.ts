import { describe, expect, it } from "vitest";
import { type Change, type DiffView, SandboxCommitError } from "../../../src/index.ts";
import { type Ground, SHOP, makeGround } from "./fixture.ts";
import { SERVERS, runServer } from "./servers.ts";

const SETUP =
  "CREATE TABLE notes (a int, b varchar(9)); INSERT INTO notes VALUES (1, 'x'), (1, 'x'), (2, 'y')";

/** Scripts, and the rows of which there are more or fewer in the end. */
const SCRIPTS = [
  [
    "added before all like it go",
    "INSERT INTO notes VALUES (1, 'x'); DELETE FROM notes WHERE a = 1",
    { "1|x": -2 },
  ],
  [
    "there more often than before",
    "DELETE FROM notes WHERE a = 1; INSERT INTO notes VALUES (1, 'x'), (1, 'x'), (1, 'x'), (1, 'x')",
    { "1|x": 2 },
  ],
  ["changed into rows that are there", "UPDATE notes SET a = 2, b = 'y'", { "1|x": -2, "2|y": 2 }],
  [
    "as often there as before",
    "INSERT INTO notes VALUES (1, 'x'); DELETE FROM notes; INSERT INTO notes VALUES (2, 'y'), (1, 'x'), (1, 'x')",
    {},
  ],
  ["there once more", "INSERT INTO notes VALUES (2, 'y')", { "2|y": 1 }],
] as const;

const OFFERS = `CREATE TABLE suppliers (id int PRIMARY KEY);
  CREATE TABLE offers (supplier int, price int,
    FOREIGN KEY (supplier) REFERENCES suppliers (id) ON DELETE CASCADE ON UPDATE CASCADE);
  INSERT INTO suppliers VALUES (1); INSERT INTO offers VALUES (1, 10)`;

describe.each(SERVERS)("rows of a table without a key on $name", (kind) => {
  const on = runServer(kind);

  it.each(SCRIPTS)("are told by how many more or fewer there are: %s", async (_, script, net) => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const [at, text] of script.split("; ").entries()) await sandbox.write(String(at), text);
    const before = countsIn(ground);
    const view = await sandbox.diff();
    const { added, deleted, changed } = await sandbox.commit();
    expect(differences(before, countsIn(ground))).toEqual(net);
    expect(await toldBy(view)).toEqual(net);
    const amounts = Object.values<number>(net);
    const more = amounts.filter((amount) => amount > 0).reduce((sum, one) => sum + one, 0);
    const fewer = amounts.filter((amount) => amount < 0).reduce((sum, one) => sum - one, 0);
    expect([view.summary.counts.added ?? 0, view.summary.counts.deleted ?? 0]).toEqual([
      more,
      fewer,
    ]);
    expect([added.length, deleted.length, changed]).toEqual([more, fewer, []]);
  });

  it.each([
    ["changed", "UPDATE offers SET price = 99"],
    ["replaced", "DELETE FROM offers; INSERT INTO offers VALUES (1, 99)"],
  ])(
    "that somebody else %s are conflicts, also where a cascade takes the new ones along (R90, R96)",
    async (_how, foreign) => {
      const ground = makeGround(on.server, OFFERS);
      await using cofferdam = await ground.open();
      const removing = cofferdam.sandbox(await cofferdam.create("removing", SHOP));
      await removing.write("w", "DELETE FROM offers; DELETE FROM suppliers WHERE id = 1");
      const rows = (): string[] => ground.sql("SELECT * FROM suppliers; SELECT * FROM offers");
      ground.sql(foreign);
      await expect(removing.commit()).rejects.toMatchObject({
        code: "SANDBOX_CONFLICT",
        data: { conflicts: [expect.objectContaining({ reason: "missing" })] },
      });
      expect(rows()).toEqual(["1", "1|99"]);
      const adding = cofferdam.sandbox(await cofferdam.create("adding", SHOP));
      ground.sql("DELETE FROM offers; DELETE FROM suppliers");
      await adding.write(
        "w",
        "INSERT INTO suppliers VALUES (1); INSERT INTO offers VALUES (1, 10)",
      );
      await adding.commit();
      ground.sql(foreign);
      await expect(adding.undoCommit()).rejects.toMatchObject({ data: { reason: "foreignEdits" } });
      expect(rows()).toEqual(["1", "1|99"]);
    },
  );

  it("are committed and taken back where a cascade moves them (R96)", async () => {
    const ground = makeGround(on.server, `${OFFERS}; INSERT INTO offers VALUES (1, 10), (1, 20)`);
    const rows = (): string[] =>
      ground.sql("SELECT * FROM suppliers; SELECT * FROM offers ORDER BY price");
    const before = rows();
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "w",
      "UPDATE suppliers SET id = 2; UPDATE offers SET price = 30 WHERE price = 20",
    );
    await sandbox.commit();
    expect(rows()).toEqual(["2", "2|10", "2|10", "2|30"]);
    await sandbox.undoCommit();
    expect(rows()).toEqual(before);
  });

  it("are reviewed with their number", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const { digest: expect0 } = await sandbox.diff();
    await sandbox.write("one", "INSERT INTO notes VALUES (2, 'y')");
    const { digest: expect1 } = await sandbox.diff();
    await sandbox.write("two", "INSERT INTO notes VALUES (2, 'y')");
    for (const reviewed of [expect0, expect1]) {
      const committing = sandbox.commit({ expect: reviewed });
      await expect(committing).rejects.toBeInstanceOf(SandboxCommitError);
    }
    expect(countsIn(ground)).toEqual({ "1|x": 2, "2|y": 1 });
    const view = await sandbox.diff();
    expect(view.changes).toMatchObject([{ kind: "added", count: 2 }]);
    expect(await view.text()).toContain("\n2 rows like this\n");
    await sandbox.commit({ expect: view.digest });
    expect(countsIn(ground)).toEqual({ "1|x": 2, "2|y": 3 });
  });
});

/** How many rows of each kind the server's own client finds. */
function countsIn(ground: Ground): Record<string, number> {
  const rows = ground.sql("SELECT a, b FROM notes").map((row) => row.replace("\t", "|"));
  const counts: Record<string, number> = {};
  for (const row of rows) counts[row] = (counts[row] ?? 0) + 1;
  return counts;
}

function differences(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Record<string, number> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const pairs = names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(pairs.filter(([, amount]) => amount !== 0));
}

/** What a diff says about the number of rows of each kind. */
async function toldBy(view: DiffView): Promise<Record<string, number>> {
  const told: Record<string, number> = {};
  for (const change of view.changes) {
    const text = await view.text({ paths: [change.path] });
    const [, a, b] = /"a": ?(\d+),\n[-+] ?"b": ?"(\w+)"/.exec(text) ?? [];
    told[`${a}|${b}`] = signOf(change) * (change.count ?? 1);
  }
  return told;
}

function signOf({ kind }: Change): number {
  return { added: 1, deleted: -1 }[kind as "added" | "deleted"];
}
