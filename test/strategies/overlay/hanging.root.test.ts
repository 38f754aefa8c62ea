import { mkdirSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { runChild } from "../../support/child.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import type { Command } from "./programs/scenario.ts";
import { makePlace, makeSandbox } from "./sandbox.ts";
import { OverlayWorkspace } from "../../../src/strategies/overlay/workspace.ts";

const scenario = new URL("./programs/scenario.ts", import.meta.url);

function makeRoot(): string {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir d; echo a >a; echo b >d/b");
  return root;
}

/** Processes that keep a file open, by what the kernel says. */
function holdersOf(file: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        const held = readdirSync(`/proc/${pid}/fd`).map((fd) =>
          readlinkSync(`/proc/${pid}/fd/${fd}`),
        );
        return held.includes(file);
      } catch {
        return false;
      }
    })
    .map(Number);
}

it.each([
  ["kernel", "move_mount"],
  ["fuse", "mount"],
] as const)(
  "ends a %s mount that takes too long, and nothing of it is left (R78)",
  async (mode, call) => {
    const root = makeRoot();
    const delay = [
      "strace",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      `inject=${call}:delay_enter=1500000`,
    ];
    const options = JSON.stringify({ mode, mountTimeoutMs: 500 });
    const { stdout } = await runChild(scenario, [root, options], { wrapper: delay });
    expect(JSON.parse(stdout)).toMatchObject({
      thrown: { code: "SANDBOX_CREATION", cause: { code: "OPERATION_TIMEOUT" } },
    });
    expect(mountsBelow(`${root}-area`)).toEqual([]);
    const place = makePlace(root);
    expect(await new OverlayWorkspace({ emit: () => undefined }).destroy(place)).toEqual([]);
    expect(readdirSync(displayPath(place.directory))).toEqual([]);
  },
);

it("reports a file server that hangs, and cleans up once it goes on", async () => {
  const root = makeRoot();
  await using sandbox = await makeSandbox(root, { mode: "fuse", mountTimeoutMs: 400 });
  const { workspace, place } = sandbox;
  runIn(displayPath(await workspace.path(place)), "echo edit >>a");
  const directory = displayPath(place.directory);
  const [server = 0, ...others] = holdersOf(join(directory, "live"));
  expect(others).toEqual([]);
  expect(readFileSync(`/proc/${server}/comm`, "utf8")).toBe("fuse-overlayfs\n");
  process.kill(server, "SIGSTOP");
  try {
    await expect(workspace.quiesce(place, "cleanup")).rejects.toMatchObject({
      code: "SANDBOX_CLEANUP",
      data: { remaining: [join(directory, "m")] },
      cause: { code: "OPERATION_TIMEOUT" },
    });
    expect(await workspace.destroy(place)).not.toEqual([]);
    expect(readdirSync(join(directory, "l/1"))).toContain("a");
  } finally {
    process.kill(server, "SIGCONT");
  }
  await workspace.quiesce(place, "cleanup");
  expect(mountsBelow(directory)).toEqual([]);
  expect(holdersOf(join(directory, "live"))).toEqual([]);
  const { changes } = await workspace.changes(place);
  expect(changes.flatMap(({ path, implied }) => (implied === true ? [] : [path]))).toEqual(["a"]);
});

it.each(["kernel", "fuse"] as const)(
  "finds the %s mount that a killed process left, goes on in it, and takes it away (R85)",
  async (mode) => {
    const root = makeRoot();
    const before = takeOracle(root);
    const commands: Command[] = [
      { call: "path" },
      { call: "shell", line: "echo edit >>a; rm d/b" },
      { call: "die" },
    ];
    const { signal } = await runChild(scenario, [root, JSON.stringify({ mode })], {
      input: commands.map((command) => JSON.stringify(command)).join("\n"),
    });
    expect(signal).toBe("SIGKILL");
    const place = makePlace(root);
    const directory = displayPath(place.directory);
    expect(mountsBelow(directory)).toEqual([join(directory, "m")]);
    const workspace = new OverlayWorkspace({ emit: () => undefined });
    expect(displayPath(await workspace.path(place))).toBe(join(directory, "m"));
    const { changes } = await workspace.changes(place);
    expect(changes.flatMap(({ path, implied }) => (implied === true ? [] : [path]))).toEqual([
      "a",
      "d/b",
    ]);
    expect(await workspace.destroy(place)).toEqual([]);
    expect(mountsBelow(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
    expectOracleEqual(before, takeOracle(root));
  },
);
