import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type Cofferdam,
  type Sandbox,
  type StrategyHost,
  openCofferdam,
} from "../../../src/index.ts";
import { OverlayStrategy } from "../../../src/strategies/overlay/strategy.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";

const FILL = "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c; ln -s a link";
const EDITS = "echo edit >>a; rm d/b; rm -r d/e; mkdir d/e; echo new >d/e/new; ln -s a second";

interface Subject {
  readonly coffer: Cofferdam;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly root: string;
}

interface SubjectOptions {
  readonly mode: "kernel" | "userns" | "fuse" | "copy";
  readonly file?: string;
  readonly fill?: string;
  readonly strategy?: string;
}

/** An overlay that waits a short time only for a mount to go. */
class Impatient extends OverlayStrategy {
  constructor(host: StrategyHost) {
    super(host, { mountTimeoutMs: 1000 });
  }
}

/** A sandbox with the whole engine around it; everything is gone when the test has finished. */
async function start({ mode, file, fill = FILL, strategy }: SubjectOptions): Promise<Subject> {
  const folder = tempFolder();
  const root = join(folder, "real");
  mkdirSync(root);
  runIn(root, fill);
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
  onTestFinished(() => coffer.close());
  await coffer.registry.register("impatient", Impatient);
  const resource = {
    resourceId: "tree",
    type: file === undefined ? "fs-directory" : "fs-file",
    location: file === undefined ? root : join(root, file),
    properties: { mode },
  };
  const ref = await coffer.create("plan", resource, { strategy: strategy ?? "overlay" });
  expect(ref.metadata["mode"]).toBe(mode);
  return { coffer, sandbox: coffer.sandbox(ref), folder, root };
}

/** The line of the mount table for a mount point. */
function mountLine(point: string): string | undefined {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.find((line) => line.split(" ")[4] === point);
}

/** A process that stands in a directory until it is told to go. */
async function standIn(cwd: string): Promise<() => Promise<void>> {
  const child = spawn("sh", ["-c", "echo here; exec sleep 1000"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  return async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
}

describe.each(["kernel", "userns", "fuse", "copy"] as const)("in mode %s", (mode) => {
  it("is active again after a rollback, so that new edits can be committed (R82)", async () => {
    const { coffer, sandbox, root } = await start({ mode });
    runIn(await sandbox.getPath(), EDITS);
    await sandbox.rollback();
    expect(await coffer.status(sandbox.ref)).toBe("ROLLED_BACK");
    const path = await sandbox.getPath();
    expect(await coffer.status(sandbox.ref)).toBe("ACTIVE");
    expectOracleEqual(takeOracle(root), takeOracle(path));
    runIn(path, "echo later >>a");
    await expect(sandbox.commit()).resolves.toMatchObject({ changed: ["a"], noop: false });
    expect(runIn(root, "cat a; ls")).toBe("a\nlater\na\nd\nlink\n");
    await sandbox.cleanup();
  });

  it("keeps links as links and copies nothing from behind them (R81)", async () => {
    const secret = join(tempFolder(), "secret");
    mkdirSync(secret);
    runIn(secret, "echo unspeakable words >file");
    const fill = `${FILL}; ln -s "${secret}/file" out; ln -s "${secret}" folder`;
    const { sandbox, root, folder } = await start({ mode, fill });
    const path = await sandbox.getPath();
    expect([readlinkSync(join(path, "out")), readlinkSync(join(path, "folder"))]).toEqual([
      join(secret, "file"),
      secret,
    ]);
    runIn(path, "echo edit >>a; touch -h out");
    expect(runIn(folder, "grep -rl unspeakable state /.cofferdam-0 2>/dev/null || true")).toBe("");
    await sandbox.commit({ policy: { outwardLinks: "allow" } });
    expect(readlinkSync(join(root, "out"))).toBe(join(secret, "file"));
    await sandbox.rollback();
    expect(readlinkSync(join(await sandbox.getPath(), "folder"))).toBe(secret);
    await sandbox.cleanup();
    expect(runIn(secret, "cat file")).toBe("unspeakable words\n");
  });

  it("leaves the mount table and the disk as they were before it (R85)", async () => {
    const { sandbox, folder, root } = await start({ mode });
    const before = takeOracle(root);
    runIn(await sandbox.getPath(), EDITS);
    await sandbox.checkpoint("one");
    await sandbox.cleanup();
    expect(mountsBelow(folder)).toEqual([]);
    expect(runIn(folder, "find state -path '*sandboxes/*' -mindepth 1")).toBe("");
    expectOracleEqual(before, takeOracle(root));
  });

  it("restores the original and starts anew in the same mode when a commit is rolled back (R75, R76)", async () => {
    const { sandbox, root } = await start({ mode });
    const before = takeOracle(root);
    const path = await sandbox.getPath();
    runIn(path, EDITS);
    const line = mountLine(path)?.split(" - ")[1]?.split(" ")[0];
    await sandbox.commit();
    expect(runIn(root, "cat a d/e/new; ls -A d")).toBe("a\nedit\nnew\ne\n");
    expect(runIn(root, "find . -type c; getfattr -Rd -m overlay . | head -1")).toBe("");
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(root));
    const again = await sandbox.getPath();
    expect(mountLine(again)?.split(" - ")[1]?.split(" ")[0]).toBe(line);
    expectOracleEqual(before, takeOracle(again));
    runIn(again, "echo second >>a");
    expectOracleEqual(before, takeOracle(root));
    expect((await sandbox.diff()).changes.map((change) => change.path)).toEqual(["a"]);
    await sandbox.cleanup();
  });
});

describe.each(["kernel", "copy"] as const)("one file in mode %s", (mode) => {
  it("is committed and undone, and its neighbours are neither copied nor touched (R84)", async () => {
    const { sandbox, root } = await start({ mode, file: "a", fill: `${FILL}; echo n >neighbour` });
    const before = takeOracle(root);
    const path = await sandbox.getPath();
    runIn("/", `echo edit >>"${path}"`);
    expectOracleEqual(before, takeOracle(root));
    const area = sandbox.ref.metadata["directory"] as string;
    expect(runIn(area, "find . -xdev -name neighbour")).toBe("");
    await sandbox.commit();
    expect(runIn(root, "cat a neighbour")).toBe("a\nedit\nn\n");
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(root));
    await sandbox.cleanup();
  });
});

it("never changes the original while it lies under a mount (R74)", async () => {
  const { sandbox, root } = await start({ mode: "kernel", fill: "echo first >f0" });
  const path = await sandbox.getPath();
  runIn(path, "for i in $(seq 0 1500); do echo new >f$i; done");
  // Looks at the original first: when that has changed, no mount may be there any more.
  const watch = `while :; do
    if grep -q new "$0/f0"; then
      if grep -q " $1 " /proc/self/mountinfo; then echo mounted; else echo changed; fi
      exit
    fi
  done`;
  const watcher = spawn("sh", ["-c", watch, root, path], { stdio: ["ignore", "pipe", "inherit"] });
  const seen = text(watcher.stdout);
  await sandbox.commit();
  expect(await seen).toBe("changed\n");
  expect(mountLine(path)).toBeUndefined();
  const committed = takeOracle(root);
  await sandbox.undoCommit();
  const view = takeOracle(await sandbox.getPath());
  expectOracleEqual(committed, view, { ignore: ["rootMtime"] });
  await sandbox.rollback();
  expectOracleEqual(takeOracle(root), takeOracle(await sandbox.getPath()));
  await sandbox.cleanup();
});

it("undoes an empty commit without touching the mount that somebody uses (R31, R83)", async () => {
  const { sandbox } = await start({ mode: "kernel" });
  const path = await sandbox.getPath();
  const leave = await standIn(path);
  const before = mountLine(path);
  try {
    await expect(sandbox.commit()).resolves.toMatchObject({ noop: true });
    await sandbox.rollback();
    expect(mountLine(path)).toBe(before);
  } finally {
    await leave();
  }
  await sandbox.cleanup();
});

it("stops a rollback at a busy mount with one error, and does it once the mount is free (R77, R86)", async () => {
  const { coffer, sandbox, root } = await start({ mode: "kernel" });
  const path = await sandbox.getPath();
  runIn(path, EDITS);
  const leave = await standIn(path);
  try {
    const failure = await sandbox.rollback().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "SANDBOX_ROLLBACK", cause: { code: "EBUSY" } });
    expect((failure as Error & { cause: Error }).cause.cause).toBeUndefined();
    expect(mountsBelow(path)).toEqual([path]);
    expect(await coffer.status(sandbox.ref)).toBe("ACTIVE");
    expect((await sandbox.diff()).isEmpty).toBe(false);
  } finally {
    await leave();
  }
  await sandbox.rollback();
  expectOracleEqual(takeOracle(root), takeOracle(await sandbox.getPath()));
  await sandbox.cleanup();
});

it("cleans other sandboxes up while one hangs, and that one once its file server goes on (R79)", async () => {
  const first = await start({ mode: "fuse", strategy: "impatient" });
  const second = await start({ mode: "kernel" });
  runIn(await first.sandbox.getPath(), EDITS);
  runIn(await second.sandbox.getPath(), EDITS);
  const directory = first.sandbox.ref.metadata["directory"] as string;
  const server = holdersOf(join(directory, "live"));
  expect(server).toHaveLength(1);
  process.kill(server[0] ?? 0, "SIGSTOP");
  try {
    const failure = await first.sandbox.cleanup().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "SANDBOX_CLEANUP",
      cause: { code: "OPERATION_TIMEOUT" },
    });
    expect(await first.coffer.status(first.sandbox.ref)).not.toBe("CLEANED_UP");
    await second.sandbox.cleanup();
    expect(mountsBelow(second.folder)).toEqual([]);
  } finally {
    process.kill(server[0] ?? 0, "SIGCONT");
  }
  await first.sandbox.cleanup();
  expect(await first.coffer.list()).toEqual([]);
  expect(mountsBelow(first.folder)).toEqual([]);
});

/** Processes that keep a file open, by what the kernel says. */
function holdersOf(file: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => pid !== String(process.pid))
    .filter((pid) => {
      try {
        return readdirSync(`/proc/${pid}/fd`).some(
          (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === file,
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}
