import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type DatabaseError,
  SandboxCreationError,
  type SandboxEvent,
  openCofferdam,
} from "../../../src/index.ts";
import { tempFolder } from "../../support/temp.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";
import { SERVERS, runServer } from "./servers.ts";

const SETUP =
  "CREATE TABLE items (id serial PRIMARY KEY, name text); INSERT INTO items (name) VALUES ('one')";

describe.each(SERVERS)("what a sandbox leaves on $name", (kind) => {
  const on = runServer(kind);

  it("is nothing on the server: no connection, lock or prepared transaction (R97)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write("a", "UPDATE items SET name = 'mine'");
    await sandbox.read("SELECT 1 AS one");
    await sandbox.cleanup();
    await expect.poll(() => on.server.connections()).toEqual([]);
    expect(on.server.locks(ground.database)).toEqual([]);
    expect(on.server.prepared()).toEqual([]);
    expect(ground.sql(`${kind.impatiently}; DELETE FROM items RETURNING name`)).toEqual(["one"]);
    expect(readdirSync(join(ground.stateDirectory, "databases"))).toEqual([]);
  });

  it("is never a password: neither in files, events, refs nor errors (R238)", async () => {
    const ground = makeGround(on.server, SETUP);
    const { password } = ground.database;
    const events: SandboxEvent[] = [];
    await using cofferdam = await ground.open({ onEvent: (event) => events.push(event) });
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write("a", "UPDATE items SET name = 'mine'");
    await sandbox.commit();
    ground.sql("DELETE FROM items");
    const failures = [
      await sandbox.rollback().catch((thrown: unknown) => thrown),
      await sandbox.write("b", "SELECT 1").catch((thrown: unknown) => thrown),
      await cofferdam.inspectStrategies(SHOP),
    ];
    on.server.setPassword(ground.database, "another");
    failures.push(await cofferdam.create("other", SHOP).catch((thrown: unknown) => thrown));
    const told = JSON.stringify([ref, events, failures, await cofferdam.list()]);
    expect(told).toContain("SANDBOX_ROLLBACK");
    expect(told).not.toContain(password);
    const files = readdirSync(ground.stateDirectory, { recursive: true, withFileTypes: true });
    const texts = files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(text).not.toContain(password);
  });
});

describe.each(SERVERS)("a connection to $name", (kind) => {
  const on = runServer(kind);

  it("takes its password from a file that only the user can read", async () => {
    const ground = makeGround(on.server, SETUP);
    const { role, password, name } = ground.database;
    writeFileSync(join(ground.folder, "secret"), `${password}\n`, { mode: 0o600 });
    const url = `${on.server.scheme}://${role}@127.0.0.1:${on.server.port}/${name}`;
    writeFileSync(
      ground.config,
      `connections: { main: { url: "${url}", password_file: ./secret } }\n`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    expect(rowsOf(await sandbox.read("SELECT name FROM items"))).toEqual([{ name: "one" }]);
    rmSync(join(ground.folder, "secret"));
    await expect(sandbox.read("SELECT name FROM items")).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "unreachable" },
      message: expect.stringContaining("password_file of the connection main") as string,
    });
  });

  it("that is unknown, unreachable, or to another kind of server makes no sandbox", async () => {
    const folder = tempFolder();
    const config = join(folder, "cofferdam.yaml");
    const urls = { dead: `${on.server.scheme}://a@127.0.0.1:1/x`, other: "oracle://a@127.0.0.1/x" };
    writeFileSync(
      config,
      JSON.stringify({ connections: { dead: { url: urls.dead }, other: { url: urls.other } } }),
    );
    await using cofferdam = await openCofferdam({ stateDirectory: join(folder, "state"), config });
    const create = (location: string): Promise<unknown> =>
      cofferdam.create("plan", { resourceId: "shop", type: "database", location });
    await expect(create("nowhere")).rejects.toMatchObject({ data: { stage: "connection" } });
    await expect(create("other")).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(create("other")).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "engine" },
    });
    await expect(create("dead")).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "unreachable" },
    });
    expect(await cofferdam.list()).toEqual([]);
  });

  it("that the server does not let in is told with what is wrong in it", async () => {
    const ground = makeGround(on.server, SETUP);
    const { role, password, name } = ground.database;
    const url = (secret: string, database: string): string =>
      `${on.server.scheme}://${role}:${secret}@127.0.0.1:${on.server.port}/${database}`;
    const connections = {
      stranger: { url: url(`not-${password}`, name) },
      nothing: { url: url(password, "nothing") },
    };
    writeFileSync(ground.config, JSON.stringify({ connections }));
    await using cofferdam = await ground.open();
    const hintOf = (location: string): Promise<string | null> =>
      cofferdam.create("plan", { ...SHOP, location }).then(
        () => "made",
        (error: DatabaseError) => error.hint,
      );
    expect(await hintOf("stranger")).toContain("password");
    // MariaDB says that the database is not for this user.
    expect(await hintOf("nothing")).toContain("database");
  });

  it("that is pointed to another database is refused before anything is written there", async () => {
    const ground = makeGround(on.server, SETUP);
    const elsewhere = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    await cofferdam.sandbox(ref).write("a", "INSERT INTO items (name) VALUES ('two')");
    await using misled = await ground.open({ config: elsewhere.config });
    await expect(misled.sandbox(ref).commit()).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "otherDatabase" },
    });
    expect(elsewhere.sql("SELECT name FROM items")).toEqual(["one"]);
    await cofferdam.sandbox(ref).commit();
    expect(ground.sql("SELECT name FROM items ORDER BY 1")).toEqual(["one", "two"]);
  });
});
