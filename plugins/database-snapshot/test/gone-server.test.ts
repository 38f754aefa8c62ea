import { DatabaseError, SandboxError } from "cofferdam";
import { expect, it } from "vitest";
import { coffer, makeHome } from "../../../test/cli/coffer.ts";
import { PostgresServer } from "../../../test/support/postgres-server.ts";
import { Ground, psql } from "./ground.ts";

it.each([
  ["gone", false],
  ["gone for good", true],
])(
  "frees a plan whose server is %s by force alone, and names its clones there",
  async (_is, isForGood) => {
    await using server = await PostgresServer.start({ fsync: "off" });
    const ground = new Ground(server, "CREATE TABLE jobs (id int PRIMARY KEY)");
    const events: string[] = [];
    {
      await using cofferdam = await ground.open();
      // Its clone is kept.
      const running = ground.run(await ground.plan(cofferdam), psql("CREATE TABLE more (id int)"));
      await expect(running).rejects.toBeInstanceOf(DatabaseError);
    }
    await server.halt("killed");
    if (isForGood) ground.connect();
    await using cofferdam = await ground.open((name) => events.push(name));
    const plan = await cofferdam.plan("plan");
    await expect(plan.sandbox("shop").cleanup()).rejects.toBeInstanceOf(SandboxError);
    expect(events).not.toContain("sandbox.clonesLeft");
    await plan.sandbox("shop").cleanup({ force: true });
    expect(events).toContain("sandbox.clonesLeft");
    expect(await cofferdam.list()).toEqual([]);
  },
);

it.each([
  ["gone", ""],
  ["another one now", "CREATE DATABASE"],
])(
  "says which clones are left when a plan is forgotten whose database is %s",
  async (_is, make) => {
    await using server = await PostgresServer.start({ fsync: "off" });
    const ground = new Ground(server, "CREATE TABLE jobs (id int PRIMARY KEY)");
    const places = ["--state", ground.stateDirectory, "--config", ground.config];
    const resource = "database_snapshot+postgres:main";
    const run = ["run", "-r", resource, ...places, "--"];
    const refused = coffer(makeHome(), [...run, "psql", "-c", "CREATE TABLE more (id int)"]);
    expect(refused.stderr).toContain("coffer sql");
    expect(refused.stderr).toContain("coffer clean run-1 --force");
    const [clone = ""] = ground.clones();
    const { name, role } = ground.database;
    server.sql("postgres", `ALTER DATABASE ${name} RENAME TO elsewhere`);
    if (make !== "") server.sql("postgres", `${make} ${name} OWNER ${role}`);
    const cleaned = coffer(makeHome(), ["clean", "run-1", "--force", ...places]);
    expect(cleaned.code).toBe(0);
    const [, named = "nothing"] = /its clones (\S+)\* may be left there/.exec(cleaned.stderr) ?? [];
    expect(clone.startsWith(named)).toBe(true);
  },
);
