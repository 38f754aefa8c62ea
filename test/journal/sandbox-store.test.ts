import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { idKey } from "../../src/journal/id-key.ts";
import { SandboxStore } from "../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { tempFolder } from "../support/temp.ts";
import { sampleRecord } from "./sample-record.ts";

const HOSTILE_IDS = [
  "../../etc",
  "/etc/passwd",
  "..",
  ".",
  " ",
  "a/b",
  "a\0b",
  "a\nb",
  "--upload-pack=x",
  "-rf",
  ";touch x",
  "Plan",
  "plan",
  "PLAN",
  "ünï 🜃",
  "con",
  "x".repeat(300),
  `${"x".repeat(300)}y`,
];

async function openStore(): Promise<{ store: SandboxStore; folder: string; outside: string }> {
  const outside = tempFolder();
  const { path } = await openStateDirectory(join(outside, "state"));
  return { store: new SandboxStore(path), folder: join(path, "plans"), outside };
}

async function add(
  store: SandboxStore,
  planId: string,
  sandboxId: string,
  sequence = 1,
): Promise<void> {
  await store.ensurePlan(planId);
  await store.put(sampleRecord(planId, sandboxId, sequence));
}

it("keeps plans with any id apart, in harmless folders of their own (R236)", async () => {
  const { store, folder, outside } = await openStore();
  for (const id of HOSTILE_IDS) await add(store, id, id);
  for (const id of HOSTILE_IDS) {
    expect(store.get({ planId: id, sandboxId: id })?.ref).toMatchObject({
      planId: id,
      sandboxId: id,
    });
    expect(store.list(id)).toHaveLength(1);
  }
  const names = readdirSync(folder);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(HOSTILE_IDS.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,79}$/);
  expect(readdirSync(outside)).toEqual(["state"]);
});

it("begins the key with what people can read (R236)", () => {
  expect(idKey("Fix login (v2)")).toMatch(/^fix-login-v2-[0-9a-f]{32}$/);
  expect(idKey("--upload-pack=x")).toMatch(/^upload-pack-x-[0-9a-f]{32}$/);
  expect(idKey("…")).toMatch(/^[0-9a-f]{32}$/);
});

it("lists by creation number, whatever the ids sort like (R126)", async () => {
  const { store } = await openStore();
  const ids = ["zebra", "10", "9", "apple", "Ape"];
  for (const [at, id] of ids.entries()) await add(store, "plan", id, at + 1);
  expect(store.list("plan").map(({ ref }) => ref.sandboxId)).toEqual(ids);
});

it("stops one plan for a damaged record and no other (R221)", async () => {
  const { store, folder } = await openStore();
  await add(store, "good", "a");
  await add(store, "bad", "b", 1);
  await add(store, "bad", "c", 2);
  const file = join(folder, idKey("bad"), "sandboxes", "b.json");
  writeFileSync(file, "{");
  const damage = { code: "RECORD_DAMAGED", data: { file, reason: "truncated" } };
  expect(() => store.list("bad")).toThrowError(expect.objectContaining(damage) as Error);
  expect(() => store.get({ planId: "bad", sandboxId: "b" })).toThrowError();
  expect(store.list("good")).toHaveLength(1);
  const all = store.listAll();
  expect(all.records.map(({ ref }) => ref.sandboxId).toSorted()).toEqual(["a", "c"]);
  expect(all.damaged).toMatchObject([damage]);
});

it("removes a plan with its last sandbox and leaves nothing of it", async () => {
  const { store, folder } = await openStore();
  await add(store, "plan", "a", 1);
  await add(store, "plan", "b", 2);
  await store.remove({ planId: "plan", sandboxId: "a" });
  expect(store.list("plan")).toHaveLength(1);
  await store.remove({ planId: "plan", sandboxId: "b" });
  await store.remove({ planId: "plan", sandboxId: "b" });
  expect(readdirSync(folder)).toEqual([]);
  expect(store.get({ planId: "plan", sandboxId: "b" })).toBeNull();
});

it("clears away what killed processes left half written", async () => {
  const { store, folder } = await openStore();
  await add(store, "plan", "a");
  const place = join(folder, idKey("plan"), "sandboxes");
  writeFileSync(join(place, `.${"0".repeat(32)}.tmp`), "half");
  spawnSync("mkdir", ["-p", join(folder, ".old-0011223344556677", "sandboxes")]);
  store.sweep("plan");
  store.sweepRemoved();
  expect(readdirSync(place)).toEqual(["a.json"]);
  expect(readdirSync(folder)).toEqual([idKey("plan")]);
});

it("takes a damaged mark of a creation for none, and keeps it to be looked at (R262)", async () => {
  const { store, folder } = await openStore();
  await add(store, "plan", "a");
  const place = join(folder, idKey("plan"), "sandboxes");
  writeFileSync(join(place, ".making-b.json"), "{");
  expect(store.creations()).toEqual([]);
  expect(readdirSync(place).toSorted()).toEqual([".making-b.json", "a.json"]);
});

it("takes neither a folder nor a file that cannot be read for none (R262)", async () => {
  const { store, folder, outside } = await openStore();
  await store.ensurePlan("plan");
  const place = join(folder, idKey("plan"), "sandboxes");
  await using server = createServer().listen(join(outside, "socket"));
  await once(server, "listening");
  for (const [name, read] of [
    ["a.json", () => store.listAll()],
    [".making-a.json", () => store.creations()],
  ] as const) {
    linkSync(join(outside, "socket"), join(place, name));
    expect(read).toThrowError(expect.objectContaining({ code: "ENXIO" }) as Error);
    rmSync(join(place, name));
    rmdirSync(place);
    symlinkSync("sandboxes", place);
    expect(read).toThrowError(expect.objectContaining({ code: "ELOOP" }) as Error);
    rmSync(place);
    mkdirSync(place);
    read();
  }
});
