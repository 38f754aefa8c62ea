import { describe, expect, it } from "vitest";
import { coffer, makeHome } from "../../../test/cli/coffer.ts";
import { Ground, useServer } from "./ground.ts";

const started = useServer();

describe("coffer", () => {
  it("lists the strategy as one for databases where a folder is asked about", () => {
    const { config } = new Ground(started.server, "");
    const { stdout } = coffer(makeHome(), ["strategies", "--config", config]);
    const [, told] = stdout.split("\ndatabase_snapshot\n");
    expect(told).toMatch(
      /^ {2}does not work here: it is for databases, and this is a path\n {2}from /,
    );
  });

  it("says of a command without the network that it has none", () => {
    const { config, stateDirectory } = new Ground(started.server, "CREATE TABLE jobs (id int)");
    const places = ["--config", config, "--state", stateDirectory];
    const resource = ["-r", "database_snapshot+postgres:main", "--discard", "--no-network"];
    const { code, stderr } = coffer(makeHome(), ["run", ...resource, ...places, "--", "true"]);
    expect(code).toBe(0);
    expect(stderr).toContain("It has no network; what it reaches by a socket is the real one.");
  });
});
