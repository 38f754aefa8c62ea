import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Plan, type PlanPromise, openCofferdam } from "../../src/index.ts";
import { failureOf } from "../manager/failure.ts";
import { MariadbServer } from "../support/mariadb-server.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp.ts";
import { KINDS } from "./kinds.ts";
import type { Member, Yard } from "./member.ts";

const MINUTES = 60_000;
const ALL = Object.keys(KINDS);
let servers: Yard["servers"];

/** A plan over one resource of each of these kinds, all edited. */
async function openMixed(names: readonly string[]): Promise<{ plan: Plan; members: Member[] }> {
  const folder = tempFolder();
  const members = names.map((name) => KINDS[name]!({ folder, servers }));
  const config = join(folder, "cofferdam.yaml");
  const connections = members.flatMap(({ connection }) => connection ?? []);
  writeFileSync(config, connections.length > 0 ? `connections:\n${connections.join("")}` : "");
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config });
  onTestFinished(() => coffer.close());
  const plan = await coffer.plan(
    "mixed",
    members.map(({ id, type, location, sandboxStrategy }) => ({
      id,
      type,
      location,
      ...(sandboxStrategy !== undefined && { sandboxStrategy }),
    })),
  );
  for (const { id, edit } of members) await edit(plan.sandbox(id), "new");
  return { plan, members };
}

const looks = (members: readonly Member[]): string[] => members.map(({ look }) => look());
const values = (members: readonly Member[]): string[] => members.map(({ value }) => value());

/** All or nothing in any case; a database that cannot prepare is the one that decides. */
function promiseFor(members: readonly Member[]): PlanPromise {
  const lastResource = members.filter(({ isLastResource }) => isLastResource).map(({ id }) => id);
  return { level: lastResource.length > 0 ? "lastResource" : "atomic", lastResource, blockers: [] };
}

/** Tests plans over these choices of kinds, and checkpoints over all kinds. */
export function defineMixedPlans(choices: readonly (readonly string[])[]): void {
  beforeAll(async () => {
    servers = { postgres: await PostgresServer.start(), mariadb: await MariadbServer.start() };
  }, 2 * MINUTES);
  afterAll(async () => {
    for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  });

  describe.each(choices.map((names) => ({ names })))("$names", ({ names }) => {
    it("are committed together and taken back together (R146)", async () => {
      const { plan, members } = await openMixed(names);
      const before = looks(members);
      expect((await plan.describe()).promise).toEqual(promiseFor(members));
      expect(await plan.commit()).toMatchObject({ outcome: "committed" });
      expect(values(members)).toEqual(names.map(() => "new"));
      await plan.undo();
      expect(looks(members)).toEqual(before);
      expect(await plan.commit()).toMatchObject({ outcome: "committed" });
      expect(values(members)).toEqual(names.map(() => "new"));
      expect((await plan.cleanup()).failed).toEqual({});
      expect(values(members)).toEqual(names.map(() => "new"));
    });

    it.each(names)("all stay as they are when %s cannot be committed (R146)", async (name) => {
      const { plan, members } = await openMixed(names);
      const at = names.indexOf(name);
      members[at]?.disturb();
      const before = looks(members);
      const error = await failureOf(plan.commit());
      expect(error).toMatchObject({
        code: "ATOMIC_COMMIT",
        data: { report: { outcome: "aborted", failedId: members[at]?.id } },
      });
      expect(error.cause).toMatchObject({ code: "SANDBOX_CONFLICT" });
      expect(looks(members)).toEqual(before);
      const { sandboxes } = await plan.describe();
      expect(new Set(sandboxes.map(({ status }) => status))).toEqual(new Set(["ACTIVE"]));
      for (const { id } of members) expect((await plan.sandbox(id).diff()).isEmpty).toBe(false);
    });
  });

  it("keeps and restores the state of all kinds together (R207)", async () => {
    const { plan, members } = await openMixed(ALL);
    const { digest } = await plan.diff();
    await plan.checkpoint("kept");
    for (const { id, edit } of members) await edit(plan.sandbox(id), "later");
    expect((await plan.diff()).digest).not.toBe(digest);
    await plan.restoreCheckpoint("kept");
    expect((await plan.diff()).digest).toBe(digest);
    expect(await plan.commit({ expect: digest })).toMatchObject({ outcome: "committed" });
    expect(values(members)).toEqual(ALL.map(() => "new"));
  });
}
