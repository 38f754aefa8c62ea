import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../../support/child.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type OrdinaryUser, ordinaryUser } from "../../support/privilege.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { withoutNamespaces } from "./no-namespaces.ts";
import type { Command } from "./programs/scenario.ts";
import { makeSandbox } from "./sandbox.ts";

const scenario = new URL("./programs/scenario.ts", import.meta.url);
const FILL = "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c; ln -s /etc/passwd link";
const EDITS = "echo edit >>a; rm d/b; rm -r d/e; mkdir d/e; echo new >d/e/new; mv link other";
const CHANGES = [
  ["a", "file", "file"],
  ["d/b", "file", null],
  ["d/e/c", "file", null],
  ["d/e/new", null, "file"],
  ["link", "symlink", null],
  ["other", null, "symlink"],
];

/** Runs the scenario as an ordinary user, behind programs that need root, and gives its answers. */
async function ask(
  user: OrdinaryUser,
  root: string,
  commands: readonly Command[],
  wrapper: readonly string[] = [],
): Promise<unknown[]> {
  const drop = ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--"];
  const { stdout, stderr } = await runChild(scenario, [root], {
    env: user.env,
    wrapper: [...wrapper, ...drop],
    input: commands.map((command) => JSON.stringify(command)).join("\n"),
  });
  if (stdout === "") throw new Error(stderr);
  const lines = stdout.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as unknown);
}

function makeRoot(user: OrdinaryUser): string {
  const root = join(user.home, "real");
  mkdirSync(root);
  runIn(root, `${FILL}; chown -hR ${user.uid}:${user.gid} .`);
  return root;
}

it("takes the kernel's overlay in a user namespace where there is no root (R71)", async () => {
  const user = ordinaryUser();
  const root = makeRoot(user);
  const before = takeOracle(root);
  // Its own mount only: other tests have theirs at the same time.
  const mounts = 'grep -c " $(pwd -P) .* - overlay " /proc/self/mountinfo';
  const look = `id -u; ${mounts}; grep CapEff /proc/self/status`;
  const [metadata, ran, changes, left] = await ask(user, root, [
    { call: "run", argv: ["sh", "-ec", `${EDITS}; ${look}`] },
    { call: "changes" },
    { call: "destroy" },
  ]);
  expect(metadata).toMatchObject({
    mode: "userns",
    tried: [
      { mode: "kernel", works: false, reason: expect.stringContaining("EPERM") as string },
      { mode: "userns", works: true },
    ],
  });
  expect(ran).toEqual([0, `${user.uid}\n1\nCapEff:\t0000000000000000\n`, ""]);
  expect(changes).toEqual(CHANGES);
  expect(left).toEqual([]);
  expectOracleEqual(before, takeOracle(root));
});

it("takes fuse-overlayfs where user namespaces are off, and reads its marks live and after it (R71, R73)", async () => {
  const user = ordinaryUser();
  const root = makeRoot(user);
  const before = takeOracle(root);
  const [metadata, edited, live, , quiet, left] = await ask(
    user,
    root,
    [
      { call: "shell", line: `${EDITS}; ls -A d d/e` },
      { call: "changes" },
      { call: "quiesce", operation: "commit" },
      { call: "changes" },
      { call: "destroy" },
    ],
    withoutNamespaces(tempFolder({ mode: 0o755 }), "open"),
  );
  expect(metadata).toMatchObject({
    mode: "fuse",
    tried: [
      { mode: "kernel", works: false },
      { mode: "userns", works: false, reason: expect.stringContaining("unshare") as string },
      { mode: "fuse", works: true },
    ],
  });
  expect(edited).toEqual([0, "d:\ne\n\nd/e:\nnew\n", ""]);
  expect(live).toEqual(CHANGES);
  expect(quiet).toEqual(CHANGES);
  expect(left).toEqual([]);
  expectOracleEqual(before, takeOracle(root));
});

it("takes a copy where no overlay can be had, under the same name, and says why (R71)", async () => {
  const user = ordinaryUser();
  const root = makeRoot(user);
  const before = takeOracle(root);
  const [metadata, events, edited, changes, , left] = await ask(
    user,
    root,
    [
      { call: "events" },
      { call: "shell", line: `test -L link; ${EDITS}` },
      { call: "changes" },
      { call: "quiesce", operation: "commit" },
      { call: "destroy" },
    ],
    withoutNamespaces(tempFolder({ mode: 0o755 }), "closed"),
  );
  expect(metadata).toMatchObject({
    mode: "copy",
    reason: expect.stringMatching(/kernel: .*userns: .*fuse: /s) as string,
    tried: [{ works: false }, { works: false }, { works: false }, { mode: "copy", works: true }],
  });
  expect(events).toMatchObject([{ name: "overlay.modeChosen", data: { mode: "copy" } }]);
  expect(edited).toEqual([0, "", ""]);
  expect(changes).toEqual(CHANGES);
  expect(left).toEqual([]);
  expectOracleEqual(before, takeOracle(root));
});

it("shows programs a copy and folds their edits back where a namespace works but no directory can be mounted", async () => {
  const user = ordinaryUser();
  const root = makeRoot(user);
  const before = takeOracle(root);
  const [, , , path, edited, changes, , , again, , back, left] = await ask(user, root, [
    { call: "write", path: "d/early", text: "early\n" },
    { call: "changes" },
    { call: "path" },
    { call: "shell", line: `${EDITS}; cat d/early; rm d/early; ln a hard; chmod 700 d` },
    { call: "changes" },
    { call: "checkpoint", id: "one" },
    { call: "quiesce", operation: "commit" },
    { call: "changes" },
    { call: "restore", id: "one" },
    { call: "run", argv: ["sh", "-ec", "cat a; ls -A d/e; stat -c %h a hard"] },
    { call: "destroy" },
  ]);
  const added = [...CHANGES, ["d", "directory", "directory"], ["hard", null, "file"]].toSorted(
    ([a], [b]) => (String(a) < String(b) ? -1 : 1),
  );
  expect(path).toBe(join(`${root}-area`, "sandbox/v/tree"));
  expect(edited).toEqual([0, "early\n", ""]);
  expect(changes).toEqual(added);
  expect(again).toEqual(added);
  expect(back).toEqual([0, "a\nedit\nnew\n2\n2\n", ""]);
  expect(left).toEqual([]);
  expectOracleEqual(before, takeOracle(root));
});

it("takes a copy when the area lies on an overlay, which can hold no upper layer (R71)", async () => {
  const folder = tempFolder();
  for (const name of ["lower/real", "upper", "work", "merged"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  runIn(join(folder, "lower/real"), FILL);
  const options = "lowerdir=lower,upperdir=upper,workdir=work";
  runIn(folder, `mount -t overlay overlay -o ${options} merged`);
  await using sandbox = await makeSandbox(join(folder, "merged/real"));
  expect(sandbox.metadata).toMatchObject({
    mode: "copy",
    tried: [{ works: false }, { works: false }, { works: false }, { works: true }],
  });
  expect(mountsBelow(folder)).toEqual([join(folder, "merged")]);
});

it("uses the mode that the resource or the strategy asks for, and refuses one that does not work", async () => {
  const user = ordinaryUser();
  const root = makeRoot(user);
  for (const mode of ["kernel", "userns", "fuse", "copy"] as const) {
    await using byOption = await makeSandbox(root, { mode, area: join(user.home, "one", mode) });
    expect(byOption.metadata["mode"]).toBe(mode);
    const properties = { mode };
    await using byResource = await makeSandbox(root, {
      properties,
      mode: "copy",
      area: join(user.home, "two", mode),
    });
    expect(byResource.metadata["mode"]).toBe(mode);
  }
  runIn(user.home, "rm -r one two");
  await expect(makeSandbox(root, { properties: { mode: "magic" } })).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "mode" },
  });
  const own = JSON.stringify({ mode: "kernel", area: join(user.home, "own") });
  const { stdout } = await runChild(scenario, [root, own], {
    uid: user.uid,
    env: user.env,
  });
  expect(JSON.parse(stdout)).toMatchObject({
    thrown: { code: "SANDBOX_CREATION", data: { stage: "mount" } },
  });
});
