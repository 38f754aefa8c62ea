import { expect } from "vitest";
import { type RunningChild, runChild, startChild } from "../../support/child.ts";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AtomicCommitError, Cofferdam, Plan } from "../../../src/index.ts";
import type { DatabaseProxy, ProxyFault } from "../../support/database-proxy.ts";
import type { DatabaseServer } from "../../support/database-server.ts";
import { markerName } from "../../fixtures/probe/marker.ts";
import { type Ground, makeGround } from "./fixture.ts";

const SETUP =
  "CREATE TABLE jobs (id int PRIMARY KEY, state text); INSERT INTO jobs VALUES (1, 'old')";

/** What a plan changes, before. */
export const OLD = { row: ["1|old"], file: "old\n" };
/** What a plan changes, after. */
export const NEW = { row: ["1|new"], file: "new\n" };

/** A database and a directory. */
export interface Mixed {
  readonly ground: Ground;
  readonly folder: string;
  /** Both as they are now, seen from outside. */
  state(): typeof OLD;
}

/** Makes both; the port is the server's own unless given. */
export function mixed(server: DatabaseServer, port = server.port): Mixed {
  const ground = makeGround(
    server,
    SETUP,
    ({ role, password, name }) =>
      `${server.scheme}://${role}:${password}@127.0.0.1:${port}/${name}`,
  );
  const folder = join(ground.folder, "site");
  mkdirSync(folder);
  writeFileSync(join(folder, "page"), OLD.file);
  const state = (): typeof OLD => ({
    row: ground.sql("SELECT * FROM jobs ORDER BY id"),
    file: readFileSync(join(folder, "page"), "utf8"),
  });
  return { ground, folder, state };
}

/** A plan with a change in both. */
export async function changedPlan(
  cofferdam: Cofferdam,
  { folder }: Mixed,
  order: "database first" | "folder first" = "database first",
  sandboxStrategy = "filesystem_copy",
): Promise<Plan> {
  const resources = [
    { id: "shop", type: "database", location: "main" },
    { id: "site", type: "fs-directory", location: folder, sandboxStrategy },
  ];
  const ordered = order === "database first" ? resources : resources.toReversed();
  const plan = await cofferdam.plan("plan", ordered);
  await plan.sandbox("shop").write("job.sql", "UPDATE jobs SET state = 'new'");
  await plan.sandbox("site").write("page", NEW.file);
  return plan;
}

/** Makes a directory with a probe as its strategy fail when it is published, after the decision. */
export async function failToApply(plan: Plan): Promise<string> {
  const marker = join(await plan.sandbox("site").getPath(), markerName("apply"));
  writeFileSync(marker, "error");
  return marker;
}

/** Makes the plan with its edits, and starts another process that commits it. */
export async function startCommit(all: Mixed): Promise<RunningChild> {
  const { ground } = all;
  {
    await using cofferdam = await ground.open();
    await changedPlan(cofferdam, all);
  }
  const args = [ground.stateDirectory, ground.config, "commit", ""];
  return startChild(new URL("programs/commit-plan.ts", import.meta.url), args);
}

/** Where a process may die around a decision, and what recovery then makes of it. */
export const DEATHS = [
  ["commit", "plan.prepared", OLD],
  ["commit", "plan.decided", NEW],
  ["undo", "plan.prepared", NEW],
  ["undo", "plan.decided", OLD],
] as const;

/** Makes the plan with its edits, committed where an undo follows, and lets another process die in a call at an event. */
export async function killChangedPlan(
  all: Mixed,
  call: "commit" | "undo",
  event: string,
): Promise<void> {
  const { ground } = all;
  {
    await using cofferdam = await ground.open();
    const plan = await changedPlan(cofferdam, all);
    if (call === "undo") await plan.commit();
  }
  const args = [ground.stateDirectory, ground.config, call, event];
  const died = await runChild(new URL("programs/commit-plan.ts", import.meta.url), args);
  expect(died.signal).toBe("SIGKILL");
}

/** Commits the plan with its edits while something happens to the connection once: what is told is what became of both. */
export async function expectTrueOutcome(
  all: Mixed,
  proxy: DatabaseProxy,
  fault: ProxyFault,
  expected: typeof OLD,
): Promise<void> {
  await using cofferdam = await all.ground.open();
  const plan = await changedPlan(cofferdam, all);
  const firedBefore = proxy.fired;
  proxy.arm(fault);
  const outcome = await plan.commit().then(
    (report) => report.outcome,
    (thrown: unknown) => (thrown as AtomicCommitError).data.report.outcome,
  );
  expect(proxy.fired).toBe(firedBefore + 1);
  expect(outcome).toBe(expected === NEW ? "committed" : "aborted");
  expect(all.state()).toEqual(expected);
  expect(all.ground.prepared()).toEqual([]);
}
