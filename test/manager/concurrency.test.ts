import { join } from "node:path";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { act, startActing } from "./act.ts";
import { edit, mark, openSite, reopenSite, sandboxOf } from "./site.ts";
import { until } from "./until.ts";

it.each(["filesystem_copy", "overlay"])(
  "loses none of 100 writes at once, to distinct paths and to one: %s (R217)",
  async (strategy) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    const numbers = Array.from({ length: 100 }, (_, at) => at);
    const long = (at: number): string => `${at} `.repeat(2_000);
    await Promise.all(
      numbers.flatMap((at) => [
        sandbox.write(`many/${at}`, long(at)),
        sandbox.write("one", long(at)),
      ]),
    );
    for (const at of numbers) {
      expect(Buffer.from(await sandbox.read(`many/${at}`)).toString()).toBe(long(at));
    }
    const last = Buffer.from(await sandbox.read("one")).toString();
    expect(numbers.map(long)).toContain(last);
    expect(await sandbox.list("many")).toHaveLength(100);
  },
);

it("loses no write of two processes either (R217)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "filesystem_copy");
  const { stateDirectory } = site;
  const writes = (who: string): (readonly [string, string, string])[] =>
    Array.from({ length: 25 }, (_, at) => ["write", `${who}/${at}`, `${who} ${at}`] as const);
  const orders = { options: { stateDirectory }, ref: sandbox.ref };
  await Promise.all([
    act({ ...orders, calls: writes("left") }),
    act({ ...orders, calls: writes("right") }),
    ...writes("here").map(([, path, content]) => sandbox.write(path, content)),
  ]);
  for (const folder of ["left", "right", "here"])
    expect(await sandbox.list(folder)).toHaveLength(25);
});

it("publishes once when two instances commit at the same time", async () => {
  const site = await openSite();
  const second = await reopenSite(site);
  const sandbox = await sandboxOf(site, "filesystem_copy");
  await edit(sandbox);
  const outcomes = await Promise.allSettled([
    sandbox.commit(),
    second.coffer.sandbox(sandbox.ref).commit(),
  ]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "SANDBOX_STATE", data: { status: "COMMITTED" } },
  });
  expect(await site.coffer.history()).toHaveLength(1);
});

it("lets other plans work while one is held, unless they want the same resource (R212)", async () => {
  const site = await openSite({ limits: { lockTimeoutMs: 300 } });
  const held = await sandboxOf(site, "two-phase", "held");
  const same = await sandboxOf(site, "filesystem_copy", "same");
  const other = site.coffer.sandbox(
    await site.coffer.create("other", join(site.data, "sub"), { strategy: "filesystem_copy" }),
  );
  for (const sandbox of [held, same]) await edit(sandbox);
  await other.write("c", "theirs\n");
  const marker = await mark(held, "apply", "wait");
  const { stateDirectory } = site;
  const child = await startActing({
    options: { stateDirectory },
    ref: held.ref,
    calls: [["commit"]],
  });
  await until(() => isCommitting(stateDirectory));
  await expect(held.read("a")).rejects.toMatchObject({ code: "PLAN_BUSY" });
  const before = takeOracle(site.data);
  await expect(same.commit()).rejects.toMatchObject({ code: "PLAN_BUSY" });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await same.describe()).toMatchObject({
    status: "ACTIVE",
    lastError: { code: "PLAN_BUSY" },
  });
  expect(await other.commit()).toMatchObject({ changed: ["c"] });
  rmSync(marker);
  expect((await child.result).code).toBe(0);
});

it("shows the second of two plans on one resource what the first did (R214)", async () => {
  const site = await openSite();
  const [first, second, third] = [
    await sandboxOf(site, "filesystem_copy", "first"),
    await sandboxOf(site, "filesystem_copy", "second"),
    await sandboxOf(site, "filesystem_copy", "third"),
  ];
  await first.write("a", "first\n");
  await second.write("a", "second\n");
  await third.write("sub/c", "third\n");
  await first.commit();
  await expect(second.commit()).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { conflicts: [{ path: "a" }] },
  });
  await third.commit();
});

function isCommitting(stateDirectory: string): boolean {
  const folder = join(stateDirectory, "tx");
  return readdirSync(folder).some((name) => existsSync(join(folder, name, "decision")));
}
