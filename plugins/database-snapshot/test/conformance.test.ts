import { runDatabaseConformance } from "cofferdam/testing";
import { afterAll, expect, it } from "vitest";
import { kitRunner } from "../../../test/support/kit-runner.ts";
import { PostgresServer } from "../../../test/support/postgres-server.ts";

import { postgresSubject, sqliteSubject } from "../../../test/testing/database-subjects.ts";
import { STRATEGY } from "./ground.ts";

const STRATEGIES = { strategyName: "database_snapshot", configuration: STRATEGY };

// Before the tests are declared: which ones they are depends on what the strategy promises.
const server = await PostgresServer.start({ fsync: "off" });
afterAll(() => server[Symbol.asyncDispose]());

const leftOut = await Promise.all([
  runDatabaseConformance(kitRunner, postgresSubject(server, STRATEGIES)),
  runDatabaseConformance(kitRunner, sqliteSubject(STRATEGIES)),
]);

it("is concerned by every rule, but for the two phases of SQLite, whose commit is the decision", () => {
  expect(leftOut.flat().map(({ reason }) => reason)).toEqual(["the strategy cannot prepare"]);
});
