import { describe, expect, it } from "vitest";
import { Ground, psql, useServer } from "./ground.ts";

const on = useServer();
const JOBS = `CREATE TABLE jobs (id int PRIMARY KEY, name text NOT NULL);
  INSERT INTO jobs VALUES (1, 'old'), (2, 'two'), (3, 'three');`;
const ALL = "SELECT * FROM jobs ORDER BY id";

describe("a command in a plan over a database of PostgreSQL", () => {
  it("works in a clone by its own client, and its rows become those of the plan", async () => {
    const ground = new Ground(on.server, JOBS);
    await using cofferdam = await ground.open();
    const plan = await ground.plan(cofferdam);
    await plan.sandbox("shop").write("first.sql", "UPDATE jobs SET name = 'mine' WHERE id = 2");
    const ran = await ground.run(
      plan,
      `test "$(psql -XAt -c 'SELECT name FROM jobs WHERE id = 2')" = mine
       ${psql("UPDATE jobs SET name = 'new' WHERE id = 1; DELETE FROM jobs WHERE id = 3")}
       psql "$DATABASE_URL" -Xq -c "INSERT INTO jobs VALUES (4, 'four')"
       psql "$DATABASE_URL_SHOP" -Xq -c "SELECT pg_sleep(1)" & psql -Xq -c "SELECT pg_sleep(1)" & wait`,
    );
    expect(ran).toMatchObject({ exitCode: 0, unreached: [] });
    expect(ground.sql(ALL)).toEqual(["1|old", "2|two", "3|three"]);
    const { resources } = await plan.diff();
    expect(resources["shop"]?.changes.map(({ path, kind }) => [path, kind])).toEqual([
      ["public.jobs/1", "modified"],
      ["public.jobs/2", "modified"],
      ["public.jobs/3", "deleted"],
      ["public.jobs/4", "added"],
    ]);
    expect(ground.clones()).toEqual([]);
    await plan.commit();
    expect(ground.sql(ALL)).toEqual(["1|new", "2|mine", "4|four"]);
    await plan.undo();
    expect(ground.sql(ALL)).toEqual(["1|old", "2|two", "3|three"]);
    await plan.cleanup();
  });
});
