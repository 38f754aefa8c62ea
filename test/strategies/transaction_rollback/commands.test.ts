import { describe, expect, it } from "vitest";
import { coffer, makeHome } from "../../cli/coffer.ts";
import { makeGround } from "./fixture.ts";
import { SERVERS, runServer } from "./servers.ts";

const SETUP = "CREATE TABLE items (id integer PRIMARY KEY, name text)";
const TYPES: Readonly<Record<string, string>> = { PostgreSQL: "postgres", MariaDB: "mysql" };

describe.each(SERVERS)("a command in a plan with a database of $name", (kind) => {
  const on = runServer(kind);

  it("is preceded by a note that it does not find the plan's rows there, and keeps its environment", () => {
    const ground = makeGround(on.server, SETUP);
    const home = makeHome();
    const env = { PGHOST: "elsewhere", DATABASE_URL: "mine" };
    const script = 'echo "$PGHOST $DATABASE_URL" >&2';
    const plan = ["run", "-p", "up", "-r", `${TYPES[kind.name] ?? ""}:main`, "--keep"];
    const args = ["--config", ground.config, ...plan];
    const { code, stderr } = coffer(home, [...args, "--", "sh", "-c", script], { env });
    expect(code, stderr).toBe(0);
    const [before = "", after = ""] = stderr.split("elsewhere mine\n");
    expect(before).toContain("coffer sql up main");
    expect(after).not.toContain("coffer sql");
    const exec = ["--config", ground.config, "--json", "exec", "up", "--", "true"];
    expect(JSON.parse(coffer(home, exec).stdout)).toMatchObject({ unreached: ["main"] });
    expect(coffer(home, ["--config", ground.config, "clean", "up"]).code).toBe(0);
  });
});
