import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../../src/index.ts";
import { runChild } from "../../support/child.ts";
import { type Ground, SHOP, makeGround, rowsOf } from "./fixture.ts";
import { POSTGRES, SERVERS, runServer } from "./servers.ts";

const SETUP =
  "CREATE TABLE items (id int PRIMARY KEY, name text); INSERT INTO items VALUES (1, 'one'), (2, 'two')";
const CHANGE = "UPDATE items SET name = 'mine' WHERE id = 1";
const NAMES = "SELECT name FROM items ORDER BY id";

describe.each(SERVERS)("a connection to $name that is kept between calls", (kind) => {
  const on = runServer(kind);

  async function changed(
    ground: Ground,
  ): Promise<{ sandbox: Sandbox; close: () => Promise<void> }> {
    const cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("row", CHANGE);
    return { sandbox, close: () => cofferdam.close() };
  }

  it("serves the next call, holds nothing meanwhile, and goes when the library is closed", async () => {
    const ground = makeGround(on.server, SETUP);
    const { sandbox, close } = await changed(ground);
    const kept = on.server.connections();
    expect(kept).toHaveLength(1);
    expect(on.server.locks(ground.database)).toEqual([]);
    ground.sql(`${kind.impatiently}; UPDATE items SET name = 'theirs' WHERE id = 2`);
    expect(rowsOf(await sandbox.read(NAMES))).toEqual([{ name: "mine" }, { name: "theirs" }]);
    await sandbox.commit();
    expect(on.server.connections()).toEqual(kept);
    await close();
    await expect.poll(() => on.server.connections()).toEqual([]);
    expect(ground.sql(NAMES)).toEqual(["mine", "theirs"]);
    await sandbox.undoCommit();
    await close();
    expect(ground.sql(NAMES)).toEqual(["one", "theirs"]);
  });

  it("does not let a process end that makes the next call at once", async () => {
    const { stateDirectory, config } = makeGround(on.server, SETUP);
    const program = new URL("programs/several-calls.ts", import.meta.url);
    const ended = await runChild(program, [stateDirectory, config]);
    expect(ended).toMatchObject({ code: 0, stdout: "done" });
  });

  it("that is cut meanwhile is replaced, and a commit neither fails nor changes more", async () => {
    const ground = makeGround(on.server, SETUP);
    const { sandbox, close } = await changed(ground);
    on.server.cutConnections();
    expect(rowsOf(await sandbox.read(NAMES))).toEqual([{ name: "mine" }, { name: "two" }]);
    on.server.cutConnections();
    await sandbox.commit();
    expect(ground.sql(NAMES)).toEqual(["mine", "two"]);
    expect(ground.prepared()).toEqual([]);
    await close();
  });

  it("is not trusted after a restart of the server: every row is looked at again (R94)", async () => {
    const ground = makeGround(on.server, SETUP);
    const { sandbox, close } = await changed(ground);
    await on.server.halt("immediate");
    await on.server.resume();
    ground.sql("UPDATE items SET name = 'theirs' WHERE id = 1");
    await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
    expect(ground.sql(NAMES)).toEqual(["theirs", "two"]);
    ground.sql("UPDATE items SET name = 'one' WHERE id = 1");
    await sandbox.commit();
    expect(ground.sql(NAMES)).toEqual(["mine", "two"]);
    await close();
  });

  it("neither keeps its process from ending nor outlives it", async () => {
    const ground = makeGround(on.server, SETUP);
    const program = new URL("programs/leave-open.ts", import.meta.url);
    const ended = await runChild(program, [ground.stateDirectory, ground.config]);
    expect(ended).toMatchObject({ code: 0, stdout: "left: " });
    await expect.poll(() => on.server.connections()).toEqual([]);
    expect(ground.sql(NAMES)).toEqual(["one", "two"]);
  });

  it("gives a commit that cannot be prepared back without a trace", async () => {
    const ground = makeGround(on.server, SETUP);
    const { sandbox, close } = await changed(ground);
    ground.sql("UPDATE items SET name = 'theirs' WHERE id = 1");
    await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
    await expect(sandbox.commit({ expect: "0".repeat(64) })).rejects.toMatchObject({
      code: "SANDBOX_COMMIT",
    });
    expect(on.server.locks(ground.database)).toEqual([]);
    expect(ground.prepared()).toEqual([]);
    await close();
  });
});

describe("a connection to PostgreSQL that is kept between calls", () => {
  const on = runServer(POSTGRES);

  it("brings nothing of one call into the next: no lock, no number, no setting", async () => {
    const ground = makeGround(on.server, `${SETUP}; CREATE SEQUENCE numbers`);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("number", "INSERT INTO items VALUES (nextval('numbers') + 10, 'ten')");
    const [kept] = on.server.connections();
    await sandbox.read("SELECT pg_advisory_lock(7) IS NULL AS held");
    await expect(sandbox.read("SELECT currval('numbers') AS last")).rejects.toMatchObject({
      code: "DATABASE",
      data: { sqlState: "55000" },
    });
    expect(on.server.connections()).toEqual([kept]);
    await expect.poll(() => ground.sql("SELECT pg_try_advisory_lock(7)")).toEqual(["t"]);
    expect(on.server.locks(ground.database)).toEqual([]);
  });
});
