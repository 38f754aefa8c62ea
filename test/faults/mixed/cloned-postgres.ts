import assert from "node:assert/strict";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { PostgresServer } from "../../support/postgres-server.ts";
import { editsOf } from "./database.ts";
import type { WorldMember } from "./member.ts";
import { postgres } from "./postgres.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/database-snapshot", import.meta.url));
const CONFIGURATION = `sandbox:
  plugin_roots: ["${PLUGIN}"]
  custom_strategies:
    database_snapshot: { module: "${PLUGIN}/src/strategy.ts", class: DatabaseSnapshotStrategy }
`;

/** A database of PostgreSQL that is edited by its own client, in clones. */
export function clonedPostgres(server: PostgresServer, port: number): WorldMember {
  const member = postgres(server, port);
  const edits = editsOf({ canDefer: true });
  return {
    ...member,
    id: "cloned database",
    configuration: CONFIGURATION,
    resource: (ground) => ({
      ...member.resource(ground),
      sandboxStrategy: "database_snapshot",
    }),
    edit: async (_sandbox, to, plan) => {
      const { exitCode } = await plan.run(["psql", "-Xqc", edits[to]], {
        cwd: "/",
        stdio: ["ignore", "ignore", "inherit"],
      });
      assert.equal(exitCode, 0);
    },
    leftovers: (ground) => [
      ...(member.leftovers?.(ground) ?? []),
      ...server.sql(
        "postgres",
        `SELECT datname FROM pg_database WHERE starts_with(datname, '${basename(ground.folder)}_')`,
      ),
    ],
  };
}
