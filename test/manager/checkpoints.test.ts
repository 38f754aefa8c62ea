import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { act, actUntilEnd } from "./act.ts";
import { edit, listing, mark, openSite, privateFolder, run, sandboxOf } from "./site.ts";

const STRATEGIES = ["probe", "two-phase", "filesystem_copy", "copy_on_write", "overlay"];

/** The markers that steer the probe lie in the root of its workspace. */
const MARKERS_COME_AND_GO = ["rootMtime"] as const;

async function contentOf(sandbox: Sandbox, path = "a"): Promise<string> {
  return Buffer.from(await sandbox.read(path)).toString();
}

describe.each(STRATEGIES)("checkpoints of %s", (strategy) => {
  it("hold the exact state, in any order, and never touch the resource (R198, R199, R201)", async () => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const sandbox = await sandboxOf(site, strategy);
    const copies: string[] = [];
    // A view made by a program of its own changes the time of a folder when it copies a file in it up.
    const isFuse = ["fuse", "userns"].includes(sandbox.ref.metadata["mode"] as string);
    const ignore = isFuse ? (["directoryMtimes"] as const) : [];
    for (const [at, script] of SCRIPTS.entries()) {
      run("sh", "-euc", script, "sh", await sandbox.getPath());
      await sandbox.checkpoint(`c${at + 1}`, { note: `state ${at + 1}` });
      const copy = join(site.data, "..", `copy-${at}`);
      run("cp", "-a", await sandbox.getPath(), copy);
      copies.push(copy);
    }
    await sandbox.write("a", "last\n");
    for (const number of [1, 3, 2, 1]) {
      await sandbox.restoreCheckpoint(`c${number}`);
      const workspace = await sandbox.getPath();
      expectOracleEqual(takeOracle(copies[number - 1] ?? ""), takeOracle(workspace), { ignore });
    }
    expectOracleEqual(before, takeOracle(site.data));
    const { checkpoints } = await sandbox.describe();
    expect(checkpoints.filter(({ automatic }) => !automatic)).toMatchObject([
      { id: "c1", note: "state 1", parentId: null },
      { id: "c2", note: "state 2", parentId: "c1" },
      { id: "c3", note: "state 3", parentId: "c2" },
    ]);
  });

  it("let a restore itself be undone (R199)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await sandbox.checkpoint("start");
    await sandbox.write("a", "precious\n");
    await sandbox.restoreCheckpoint("start");
    expect(await contentOf(sandbox)).toBe("old a\n");
    const { checkpoints, currentCheckpoint } = await sandbox.describe();
    expect(currentCheckpoint).toBe("start");
    await sandbox.restoreCheckpoint(checkpoints.find(({ automatic }) => automatic)?.id ?? "");
    expect(await contentOf(sandbox)).toBe("precious\n");
  });

  it("outlive the process and go away with cleanup (R204)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    const { stateDirectory } = site;
    const orders = { options: { stateDirectory }, ref: sandbox.ref };
    await act({
      ...orders,
      calls: [
        ["write", "a", "kept\n"],
        ["checkpoint", "c"],
        ["write", "a", "x"],
      ],
    });
    await act({ ...orders, calls: [["restoreCheckpoint", "c"]] });
    expect(await contentOf(sandbox)).toBe("kept\n");
    await sandbox.cleanup();
    const left = listing(join(stateDirectory, "area")).filter(
      (line) => line !== "" && !line.startsWith("sandboxes d"),
    );
    expect(left).toEqual([]);
  });

  it("are what a commit after a restore publishes (R209)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.checkpoint("c");
    await sandbox.write("sub/c", "more\n");
    await sandbox.restoreCheckpoint("c");
    expect(await sandbox.commit()).toMatchObject({
      changed: ["a"],
      added: ["made", "made/new"],
      deleted: ["b"],
    });
  });
});

const SCRIPTS = [
  `cd "$1"; echo one > a; rm b; mkdir empty; ln -s sub dirlink; chmod 0640 sub/c`,
  `cd "$1"; echo two >> a; rmdir empty; rm dirlink; mkdir -p deep/er; echo x > deep/er/f; chmod 0700 sub`,
  `cd "$1"; rm -r sub; echo file > sub; mv deep moved; rm link`,
];

it("refuses unknown, duplicate and malformed ids (R200)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "filesystem_copy");
  await sandbox.checkpoint("one");
  const before = listing(site.data.replace(/data$/, ""));
  const malformed = [
    "",
    "../x",
    "/etc",
    "a/b",
    "a\0b",
    "x".repeat(10_000),
    ".hidden",
    "-rf",
    "auto-x",
    "ü",
  ];
  for (const id of malformed) {
    const refused = { code: "CHECKPOINT", data: { reason: "malformed" } };
    await expect(sandbox.checkpoint(id)).rejects.toMatchObject(refused);
  }
  await expect(sandbox.checkpoint("one")).rejects.toMatchObject({ data: { reason: "duplicate" } });
  for (const id of ["two", "auto-x"]) {
    await expect(sandbox.restoreCheckpoint(id)).rejects.toMatchObject({
      data: { reason: "unknown" },
    });
    await expect(sandbox.deleteCheckpoint(id)).rejects.toMatchObject({
      data: { reason: "unknown" },
    });
  }
  await expect(sandbox.restoreCheckpoint("../x")).rejects.toMatchObject({
    data: { reason: "malformed" },
  });
  expect(listing(site.data.replace(/data$/, ""))).toEqual(before);
});

it("refuses checkpoints where the strategy keeps none, and says so beforehand (R203)", async () => {
  const site = await openSite();
  for (const strategy of ["forgetful", "silent"]) {
    const sandbox = await sandboxOf(site, strategy, strategy);
    const unsupported = { code: "CHECKPOINT", data: { reason: "unsupported" } };
    await expect(sandbox.checkpoint("c")).rejects.toMatchObject(unsupported);
    await expect(sandbox.restoreCheckpoint("c")).rejects.toMatchObject(unsupported);
    expect(site.coffer.registry.describe(strategy).capabilities?.checkpoints).toBe("none");
  }
});

it("drops a checkpoint when told to, and keeps the order of the others", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  for (const id of ["one", "two", "three"]) {
    await sandbox.write("a", id);
    await sandbox.checkpoint(id);
  }
  await sandbox.deleteCheckpoint("two");
  const { checkpoints } = await sandbox.describe();
  expect(checkpoints.map(({ id, parentId }) => [id, parentId])).toEqual([
    ["one", null],
    ["three", "one"],
  ]);
  const kept = readdirSync(privateFolder(sandbox));
  expect(kept.filter((name) => name.startsWith("checkpoint-"))).toHaveLength(2);
  await sandbox.checkpoint("two");
});

it("keeps only the last automatic checkpoints", async () => {
  const site = await openSite({ limits: { automaticCheckpoints: 3 } });
  const sandbox = await sandboxOf(site, "probe");
  await sandbox.checkpoint("start");
  for (let round = 0; round < 6; round += 1) {
    await sandbox.write("a", `round ${round}`);
    await sandbox.restoreCheckpoint("start");
  }
  const { checkpoints } = await sandbox.describe();
  expect(checkpoints.filter(({ automatic }) => automatic)).toHaveLength(3);
  const kept = readdirSync(privateFolder(sandbox));
  expect(kept.filter((name) => name.startsWith("checkpoint-"))).toHaveLength(4);
});

it.each(["error", "string", "undefined"] as const)(
  "leaves the workspace as it was when a restore fails half way: %s (R179, R205)",
  async (word) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "probe");
    await sandbox.checkpoint("start");
    await edit(sandbox);
    const before = takeOracle(join(privateFolder(sandbox), "workspace"));
    const marker = await mark(sandbox, "restore", "once", "half", word);
    await expect(sandbox.restoreCheckpoint("start")).rejects.toMatchObject({
      code: "CHECKPOINT",
      data: { reason: "failed" },
    });
    rmSync(marker, { force: true });
    const after = takeOracle(join(privateFolder(sandbox), "workspace"));
    expectOracleEqual(before, after, { ignore: MARKERS_COME_AND_GO });
    expect(await sandbox.describe()).toMatchObject({
      status: "ACTIVE",
      lastError: { code: "CHECKPOINT" },
    });
  },
);

it("keeps a sandbox back whose restore could not be taken back, until it can (R205)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  await sandbox.checkpoint("start");
  await edit(sandbox);
  const workspace = join(privateFolder(sandbox), "workspace");
  const before = takeOracle(workspace);
  const marker = join(workspace, ".probe-restore");
  writeFileSync(marker, "half string");
  await expect(sandbox.restoreCheckpoint("start")).rejects.toMatchObject({ code: "CHECKPOINT" });
  expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
  rmSync(marker);
  expect(await site.coffer.recover()).toMatchObject({
    sandboxes: [{ from: "ERRORED", to: "ACTIVE" }],
  });
  expectOracleEqual(before, takeOracle(workspace), { ignore: MARKERS_COME_AND_GO });
});

it("takes an interrupted restore back before anybody sees the workspace (R205)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  await sandbox.checkpoint("start");
  await edit(sandbox);
  const workspace = join(privateFolder(sandbox), "workspace");
  const before = takeOracle(workspace);
  await mark(sandbox, "restore", "once", "half", "kill");
  const { stateDirectory } = site;
  const ended = await actUntilEnd({
    options: { stateDirectory },
    ref: sandbox.ref,
    calls: [["restoreCheckpoint", "start"]],
  });
  expect(ended.signal).toBe("SIGKILL");
  expect(await contentOf(sandbox)).toBe("new a\n");
  expectOracleEqual(before, takeOracle(workspace), { ignore: MARKERS_COME_AND_GO });
});

it("refuses to work in a sandbox while its interrupted restore cannot be taken back (R262)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  await sandbox.checkpoint("start");
  await edit(sandbox);
  await mark(sandbox, "restore", "once", "half", "kill");
  const ended = await actUntilEnd({
    options: { stateDirectory: site.stateDirectory },
    ref: sandbox.ref,
    calls: [["restoreCheckpoint", "start"]],
  });
  expect(ended.signal).toBe("SIGKILL");
  const marker = await mark(sandbox, "restore", "error");
  await expect(sandbox.commit()).rejects.toMatchObject({
    code: "CHECKPOINT",
    data: { reason: "failed" },
  });
  rmSync(marker);
  expect(await contentOf(sandbox)).toBe("new a\n");
  expect(await sandbox.commit()).toMatchObject({ deleted: ["b"] });
});
