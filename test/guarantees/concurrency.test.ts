import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SandboxRef } from "../../src/index.ts";
import { startChild } from "../support/child.ts";
import { openSite, type Site } from "./site.ts";

const COMMIT = new URL("programs/commit-when-told.ts", import.meta.url);

/** Commits the sandboxes at the same moment, each in a process of its own; gives what each said, sorted. */
async function commitTogether(
  { stateDirectory }: Site,
  ...refs: readonly SandboxRef[]
): Promise<string[]> {
  const children = await Promise.all(
    refs.map((ref) => startChild(COMMIT, [stateDirectory, JSON.stringify(ref)])),
  );
  await Promise.all(children.map(({ process }) => once(process.stdout, "readable")));
  for (const { process } of children) process.stdin.end("go\n");
  const results = await Promise.all(children.map(({ result }) => result));
  return results.map(({ stdout }) => stdout.replace("ready\n", "").trim()).toSorted();
}

/** Holds the lock of the only plan in a process that is not ours. */
async function holdPlans(
  { stateDirectory }: Site,
  how: "exclusive" | "shared" = "exclusive",
): Promise<void> {
  const found = spawnSync("find", [join(stateDirectory, "plans"), "-name", "lock"]);
  const [lock = ""] = found.stdout.toString().trim().split("\n");
  const holder = spawn("flock", [`--${how}`, lock, "sh", "-c", "echo held; exec sleep 600"], {
    detached: true,
  });
  onTestFinished(async () => {
    if (holder.pid !== undefined) process.kill(-holder.pid, "SIGKILL");
    if (holder.exitCode === null && holder.signalCode === null) await once(holder, "exit");
  });
  await once(holder.stdout, "data");
}

test(
  "two commits of one sandbox at the same time publish its changes once",
  { timeout: 240_000 },
  async () => {
    for (let round = 0; round < 5; round += 1) {
      const site = await openSite({ "prices.txt": "apples 3\n" });
      const ref = await site.cofferdam.create("plan", site.shop);
      await site.cofferdam.sandbox(ref).write("prices.txt", "apples 5\n");
      expect(await commitTogether(site, ref, ref)).toEqual(["SANDBOX_STATE", "committed"]);
      expect(readFileSync(join(site.shop, "prices.txt"), "utf8")).toBe("apples 5\n");
      expect(await site.cofferdam.history()).toHaveLength(1);
    }
  },
);

test("two plans on one resource commit one after the other; the same file is a conflict (R214)", async () => {
  const site = await openSite({ a: "a\n", b: "b\n", c: "c\n" });
  const { cofferdam, shop } = site;
  const refs = [await cofferdam.create("one", shop), await cofferdam.create("two", shop)];
  await cofferdam.sandbox(refs[0]!).write("a", "one\n");
  await cofferdam.sandbox(refs[1]!).write("b", "two\n");
  expect(await commitTogether(site, ...refs)).toEqual(["committed", "committed"]);
  expect([readFileSync(join(shop, "a"), "utf8"), readFileSync(join(shop, "b"), "utf8")]).toEqual([
    "one\n",
    "two\n",
  ]);

  const rivals = [await cofferdam.create("three", shop), await cofferdam.create("four", shop)];
  await cofferdam.sandbox(rivals[0]!).write("c", "three\n");
  await cofferdam.sandbox(rivals[1]!).write("c", "four\n");
  expect(await commitTogether(site, ...rivals)).toEqual(["SANDBOX_CONFLICT", "committed"]);
  expect(["three\n", "four\n"]).toContain(readFileSync(join(shop, "c"), "utf8"));
});

test("writes at the same time are each whole and none is lost (R217)", async () => {
  const { cofferdam, shop } = await openSite({});
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", shop));
  const contents = Array.from({ length: 100 }, (_, index) => `${index}`.repeat(5_000));
  await Promise.all(contents.map((content, index) => sandbox.write(`own/${index}`, content)));
  await Promise.all(contents.map((content) => sandbox.write("shared", content)));
  await sandbox.commit();
  const written = contents.map((_, index) => readFileSync(join(shop, "own", `${index}`), "utf8"));
  expect(written).toEqual(contents);
  expect(contents).toContain(readFileSync(join(shop, "shared"), "utf8"));
});

test("a plan that is held keeps its own calls waiting and no other plan's (R212)", async () => {
  const site = await openSite({ a: "a\n" }, { limits: { lockTimeoutMs: 200 } });
  const { cofferdam, shop } = site;
  const held = cofferdam.sandbox(await cofferdam.create("held", shop));
  await holdPlans(site);
  await expect(held.write("a", "b\n")).rejects.toMatchObject({ code: "PLAN_BUSY" });
  const other = cofferdam.sandbox(await cofferdam.create("other", shop));
  await other.write("a", "other\n");
  await other.commit();
  expect(readFileSync(join(shop, "a"), "utf8")).toBe("other\n");
});

test("calls that look run side by side with others that look, and keep changes waiting", async () => {
  const site = await openSite({ a: "a\n" }, { limits: { lockTimeoutMs: 200 } });
  const sandbox = site.cofferdam.sandbox(await site.cofferdam.create("plan", site.shop));
  await sandbox.write("a", "edited\n");
  await holdPlans(site, "shared");
  const looks = Array.from({ length: 20 }, async () => {
    const { changes } = await sandbox.diff();
    return [Buffer.from(await sandbox.read("a")).toString(), changes.map(({ path }) => path)];
  });
  for (const look of await Promise.all(looks)) expect(look).toEqual(["edited\n", ["a"]]);
  await expect(sandbox.commit()).rejects.toMatchObject({ code: "PLAN_BUSY" });
});
