import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Json, Sandbox, SandboxRef } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { edit, listing, openSite, sandboxOf } from "./site.ts";

type Forge = (ref: SandboxRef, foreign: string) => unknown;

const FORGED: Record<string, Forge> = {
  "metadata that leads elsewhere": (ref, foreign) => ({
    ...ref,
    metadata: { ...ref.metadata, folder: foreign, directory: foreign, root: foreign },
  }),
  "an additional field": (ref) => ({ ...ref, extra: true }),
  "another resource": (ref) => ({ ...ref, resourceId: "another" }),
  "another strategy": (ref) => ({ ...ref, strategyName: "two-phase" }),
  "a strategy to be loaded": (ref) => ({ ...ref, strategyName: "./evil.mjs:Evil" }),
  "another time": (ref) => ({ ...ref, createdAt: "2000-01-01T00:00:00.000Z" }),
  "another version": (ref) => ({ ...ref, schemaVersion: 2 }),
};

const UNKNOWN: Record<string, Forge> = {
  "another plan": (ref) => ({ ...ref, planId: "another" }),
  "another sandbox": (ref) => ({ ...ref, sandboxId: "../../../etc/passwd" }),
  nothing: () => null,
  text: () => "ref",
  "an empty object": () => ({}),
  "numbers for ids": () => ({ planId: 1, sandboxId: 2 }),
};

const CALLS: readonly ((sandbox: Sandbox) => Promise<unknown>)[] = [
  (sandbox) => sandbox.read("a"),
  (sandbox) => sandbox.write("a", "x"),
  (sandbox) => sandbox.diff(),
  (sandbox) => sandbox.commit(),
  (sandbox) => sandbox.rollback(),
  (sandbox) => sandbox.checkpoint("c"),
  (sandbox) => sandbox.restoreCheckpoint("c"),
  (sandbox) => sandbox.getPath(),
];

describe.each(["probe", "filesystem_copy"])("a ref of %s", (strategy) => {
  it.each(Object.keys(FORGED))("is refused by every call with %s (R237)", async (what) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    const foreign = join(site.data, "..", "foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "file"), "precious");
    const everything = join(site.data, "..");
    const [before, files] = [takeOracle(everything), listing(everything)];
    const forged = site.coffer.sandbox(FORGED[what]?.(sandbox.ref, foreign) as SandboxRef);
    const refused = { code: "SANDBOX_STATE", data: { reason: "alteredRef", status: "ACTIVE" } };
    for (const call of [...CALLS, (one: Sandbox) => one.cleanup({ force: true })]) {
      await expect(call(forged)).rejects.toMatchObject(refused);
    }
    // Locks are touched, nothing else is.
    expectOracleEqual(before, takeOracle(everything), { ignore: ["mtimes"] });
    expect(listing(everything)).toEqual(files);
  });

  it.each(Object.keys(UNKNOWN))("is not known when it is %s (R237)", async (what) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    const files = listing(site.stateDirectory);
    const forged = UNKNOWN[what]?.(sandbox.ref, "") as SandboxRef;
    for (const call of CALLS) {
      await expect(call(site.coffer.sandbox(forged))).rejects.toMatchObject({
        code: "SANDBOX_STATE",
        data: { reason: "unknownRef", status: "PENDING" },
      });
    }
    await site.coffer.sandbox(forged).cleanup({ force: true });
    expect(await site.coffer.status(forged)).toBe("PENDING");
    expect(listing(site.stateDirectory)).toEqual(files);
  });

  it("is the same ref whatever the order of its fields", async () => {
    const site = await openSite();
    const { ref } = await sandboxOf(site, strategy);
    const entries = (value: object): [string, Json][] =>
      Object.entries(value).toReversed() as [string, Json][];
    const turned = {
      ...Object.fromEntries(entries(ref)),
      metadata: Object.fromEntries(entries(ref.metadata)),
    };
    const sandbox = site.coffer.sandbox(turned as unknown as SandboxRef);
    expect(Buffer.from(await sandbox.read("a")).toString()).toBe("old a\n");
  });
});

it("is refused by another strategy than its own (R237)", async () => {
  const site = await openSite();
  const { ref } = await sandboxOf(site, "probe");
  const other = await site.coffer.strategy("filesystem_copy");
  await expect(other.commit(ref)).rejects.toMatchObject({ data: { reason: "alteredRef" } });
  await expect(other.cleanup(ref)).rejects.toMatchObject({ data: { reason: "alteredRef" } });
});

it("lets no path leave the resource (R227)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  await edit(sandbox);
  const everything = join(site.data, "..");
  const before = takeOracle(everything);
  const hostile = [
    "/etc/passwd",
    "..",
    "../x",
    "a/../../x",
    "sub/../..",
    "a\0b",
    Buffer.from("../x"),
  ];
  for (const path of hostile) {
    const calls = [
      sandbox.read(path),
      sandbox.write(path, "x"),
      sandbox.list(path),
      sandbox.getPath(path),
      sandbox.remove(path),
      sandbox.rename(path, "x"),
      sandbox.rename("a", path),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({ code: "PATH_ESCAPE", data: { root: site.data } });
    }
  }
  expectOracleEqual(before, takeOracle(everything), { ignore: ["mtimes"] });
  await expect(sandbox.read("x".repeat(300))).rejects.toMatchObject({
    code: "SANDBOX_PATH",
    data: { reason: "tooLong" },
  });
});

it("gives strategies plain paths, text as text and bytes as bytes", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  expect(await sandbox.write("./sub//./x", "1")).toMatchObject({ path: "sub/x" });
  expect(await sandbox.write(Buffer.from("./sub/y/"), "2")).toMatchObject({ path: "sub/y" });
  expect(await sandbox.list("sub/")).toMatchObject([{ name: "c" }, { name: "x" }, { name: "y" }]);
});
