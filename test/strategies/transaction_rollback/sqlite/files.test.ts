import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DatabaseError, SandboxCreationError } from "../../../../src/index.ts";
import { tempFolder } from "../../../support/temp.ts";
import { makeFiles, rowsOf, runSql } from "./ground.ts";

const SETUP = "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'old')";

it.each([
  ["a link", (path: string, real: string) => symlinkSync(real, path)],
  ["a second name", (path: string, real: string) => linkSync(real, path)],
  ["a folder", (path: string) => mkdirSync(path)],
  ["nothing", () => undefined],
] as const)("no sandbox is made of %s in the place of a SQLite database", async (_what, make) => {
  const files = makeFiles({ shop: SETUP, other: SETUP });
  renameSync(files.path("shop"), `${files.path("shop")}.real`);
  make(files.path("shop"), `${files.path("shop")}.real`);
  await using cofferdam = await files.open();
  const creating = files.ref(cofferdam);
  await expect(creating).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(creating).rejects.toMatchObject({ code: "SANDBOX_CREATION" });
  expect(await cofferdam.list()).toEqual([]);
});

it("no sandbox is made of a file that is not a SQLite database, or is one in UTF-16", async () => {
  const files = makeFiles({ shop: SETUP, wide: `PRAGMA encoding = 'UTF-16';; ${SETUP}` });
  writeFileSync(files.path("shop"), "just a text, but a long one\n".repeat(100));
  await using cofferdam = await files.open();
  await expect(files.ref(cofferdam)).rejects.toMatchObject({
    code: "DATABASE",
    data: { reason: "unreachable" },
  });
  await expect(files.ref(cofferdam, "wide")).rejects.toMatchObject({ code: "SANDBOX_CREATION" });
  expect(await cofferdam.list()).toEqual([]);
});

it("a SQLite database that is gone, or whose connection leads elsewhere, is a typed error", async () => {
  const files = makeFiles({ shop: SETUP });
  const elsewhere = makeFiles({ shop: SETUP });
  await using cofferdam = await files.open();
  const ref = await files.ref(cofferdam);
  await cofferdam.sandbox(ref).write("a", "UPDATE t SET v = 'new'");
  await using misled = await files.open({ config: elsewhere.config });
  const wrong = misled.sandbox(ref).commit();
  await expect(wrong).rejects.toBeInstanceOf(DatabaseError);
  await expect(wrong).rejects.toMatchObject({
    code: "DATABASE",
    data: { reason: "otherDatabase" },
  });
  expect(elsewhere.sql("shop", "SELECT v FROM t")).toEqual(["old"]);
  renameSync(files.path("shop"), `${files.path("shop")}.away`);
  await expect(cofferdam.sandbox(ref).read("SELECT v FROM t")).rejects.toMatchObject({
    code: "DATABASE",
    data: { reason: "unreachable" },
  });
  await expect(cofferdam.sandbox(ref).commit()).rejects.toMatchObject({ code: "DATABASE" });
  expect((await cofferdam.sandbox(ref).diff()).changes).toHaveLength(1);
  renameSync(`${files.path("shop")}.away`, files.path("shop"));
  await cofferdam.sandbox(ref).commit();
  expect(files.sql("shop", "SELECT v FROM t")).toEqual(["new"]);
});

it("a path is relative to the configuration, or absolute, and may have odd characters", async () => {
  const folder = join(tempFolder(), "a folder, 100% odd");
  mkdirSync(join(folder, "data"), { recursive: true });
  const path = join(folder, "data", "the shop?.db");
  runSql(path, SETUP);
  const files = makeFiles({}, { folder });
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const urls = {
    shop: "sqlite:./data/the%20shop%3F.db",
    whole: `sqlite:${encoded}`,
    slashes: `sqlite://${encoded}`,
  };
  const connections = Object.entries(urls).map(([name, url]) => [name, { url }] as const);
  writeFileSync(files.config, JSON.stringify({ connections: Object.fromEntries(connections) }));
  await using cofferdam = await files.open();
  for (const name of Object.keys(urls)) {
    const sandbox = await files.sandbox(cofferdam, name);
    expect(rowsOf(await sandbox.read("SELECT v FROM t"))).toEqual([{ v: "old" }]);
  }
  const plan = await cofferdam.plan("plan");
  for (const name of Object.keys(urls))
    await plan.sandbox(name).write("a", "UPDATE t SET v = 'new'");
  await expect(plan.commit()).rejects.toMatchObject({ data: { report: { outcome: "aborted" } } });
  expect(runSql(path, "SELECT v FROM t")).toEqual(["old"]);
});
