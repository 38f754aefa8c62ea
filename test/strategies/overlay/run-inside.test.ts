import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { mountsBelow, processesAround } from "../../support/leftovers.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";

async function makeTree(): Promise<TestSandbox> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir d; echo a >a; echo b >d/b");
  return makeSandbox(root, { mode: "userns" });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(20);
}

it("runs a command on the sandbox without any privilege, and nobody else sees its mount", async () => {
  await using sandbox = await makeTree();
  const { workspace, place, root } = sandbox;
  const line = 'echo "$WORD" >>b; pwd; cat ../a; read word; echo "got $word" >&2; exit 3';
  const done = await workspace.runInside(place, ["sh", "-c", line], {
    cwd: "d",
    env: { WORD: "edit" },
    input: Buffer.from("input\n"),
  });
  expect(done.exitCode).toBe(3);
  const directory = displayPath(place.directory);
  expect(done.stdout.toString()).toBe(`${directory}/m/d\na\n`);
  expect(done.stderr.toString()).toBe("got input\n");
  expect(mountsBelow(directory)).toEqual([]);
  expect((await workspace.read(place, at("d/b"))).toString()).toBe("b\nedit\n");
  expect(readFileSync(join(root, "d/b"), "utf8")).toBe("b\n");
});

it("takes no argument for an option or for shell text (R235)", async () => {
  await using sandbox = await makeTree();
  const { workspace, place, root } = sandbox;
  const strange = [
    "-rf",
    "--",
    "$(touch escaped)",
    "; touch escaped",
    "`touch escaped`",
    "a b",
    "",
  ];
  const argv = ["sh", "-c", 'printf "%s\\n" "$@"', "sh", ...strange];
  const done = await workspace.runInside(place, argv);
  expect(done.stdout.toString()).toBe(strange.map((word) => `${word}\n`).join(""));
  expect((await workspace.changes(place)).changes).toEqual([]);
  expect(existsSync(join(root, "escaped"))).toBe(false);
});

it("ends every process of a command with it, also when its time is up", async () => {
  await using sandbox = await makeTree();
  const { workspace, place } = sandbox;
  const directory = displayPath(place.directory);
  const daemon = "(setsid sleep 1000 >/dev/null 2>&1 &); echo started >>a";
  await workspace.runInside(place, ["sh", "-c", daemon]);
  expect(processesAround(directory)).toEqual([]);
  const endless = workspace.runInside(place, ["sh", "-c", `${daemon}; sleep 1000`], {
    timeoutMs: 400,
  });
  await expect(endless).rejects.toMatchObject({ code: "OPERATION_TIMEOUT" });
  await until(() => processesAround(directory).length === 0);
  expect((await workspace.read(place, at("a"))).toString()).toBe("a\nstarted\nstarted\n");
});

it("lets nobody change the layers while a command works on them", async () => {
  await using sandbox = await makeTree();
  const { workspace, place, root } = sandbox;
  const flag = join(root, "..", "flag");
  const line = `echo inside >>a; touch "${flag}"; while test -e "${flag}"; do sleep 0.05; done; echo after >>a`;
  const running = workspace.runInside(place, ["sh", "-ec", line]);
  await until(() => existsSync(flag));
  await expect(workspace.write(place, at("a"), Buffer.from("x"))).rejects.toMatchObject({
    code: "PLAN_BUSY",
  });
  await expect(workspace.quiesce(place, "commit")).rejects.toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: true },
  });
  await expect(workspace.discard(place)).rejects.toMatchObject({ code: "SANDBOX_ROLLBACK" });
  await workspace.checkpoint(place, "meanwhile");
  runIn("/", `rm "${flag}"`);
  expect((await running).exitCode).toBe(0);
  expect((await workspace.read(place, at("a"))).toString()).toBe("a\ninside\nafter\n");
  await workspace.write(place, at("a"), Buffer.from("later\n"));
  await workspace.restore(place, "meanwhile");
  expect((await workspace.read(place, at("a"))).toString()).toBe("a\ninside\n");
});
