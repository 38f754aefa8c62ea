import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Plan, openCofferdam } from "../../src/index.ts";
import { failureOf } from "../manager/failure.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp.ts";
import { KINDS, type Member, choicesOf } from "./kinds.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** A plan over one resource of each of these kinds, all edited. */
async function openMixed(names: readonly string[]): Promise<{ plan: Plan; members: Member[] }> {
  const folder = tempFolder();
  const yard = { folder, server, database: server.createDatabase() };
  const members = names.map((name) => KINDS[name]!(yard));
  const config = join(folder, "cofferdam.yaml");
  writeFileSync(config, `connections:\n  main:\n    url: ${yard.database.url}\n`);
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

const CHOICES = [...[2, 3, 4].flatMap(choicesOf), Object.keys(KINDS).toReversed()];

describe.each(CHOICES.map((names) => ({ names })))("$names", ({ names }) => {
  it("are committed together and taken back together (R146)", async () => {
    const { plan, members } = await openMixed(names);
    const before = looks(members);
    expect((await plan.describe()).promise).toMatchObject({ level: "atomic", blockers: [] });
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
  const { plan, members } = await openMixed(Object.keys(KINDS));
  const { digest } = await plan.diff();
  await plan.checkpoint("kept");
  for (const { id, edit } of members) await edit(plan.sandbox(id), "later");
  expect((await plan.diff()).digest).not.toBe(digest);
  await plan.restoreCheckpoint("kept");
  expect((await plan.diff()).digest).toBe(digest);
  expect(await plan.commit({ expect: digest })).toMatchObject({ outcome: "committed" });
  expect(values(members)).toEqual(["new", "new", "new", "new"]);
});
