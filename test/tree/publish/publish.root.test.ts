import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../../src/model/byte-path.ts";
import {
  abandonStage,
  applySteps,
  reverseSteps,
  stageChanges,
} from "../../../src/tree/publish/index.ts";
import { type ChildOptions, runChild } from "../../support/child.ts";
import { FILE_SYSTEM_KINDS, mountFileSystem } from "../../support/loop.ts";
import { nobody } from "../../support/nobody.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import {
  EVERY_KIND,
  type Fixture,
  isStageGone,
  makeFixture,
  requestFor,
  run,
  shell,
  writeRequest,
} from "./fixture.ts";
import { commitAndUndo } from "./round-trip.ts";

for (const kind of FILE_SYSTEM_KINDS) {
  test(`publishes and takes back on ${kind}`, async () => {
    await using mounted = mountFileSystem(kind);
    for (const take of ["move", "clone"] as const) {
      const folder = join(mounted.mountPoint, take);
      run("mkdir", folder);
      // tmpfs keeps no user attributes here; the other file systems show them.
      const withAttributes = (script: string): string =>
        kind === "tmpfs" ? script.replaceAll(/; setfattr[^\n;]*|setfattr[^\n;]*; /g, "") : script;
      commitAndUndo(
        makeFixture(withAttributes(EVERY_KIND.base), withAttributes(EVERY_KIND.edit), folder),
        take,
      );
    }
  });
}

test("publishes into a mount point itself (R39)", async () => {
  await using mounted = mountFileSystem("ext4");
  const area = join(mounted.mountPoint, "area");
  const fixture: Fixture = {
    root: mounted.mountPoint,
    area,
    work: join(area, "work"),
    stage: join(area, "stage"),
  };
  shell(fixture.root, "mkdir area area/work d; echo 1 > f; echo 2 > d/g; cp -a f d area/work");
  const old = takeOracle(fixture.root, { exclude: ["area"] });
  shell(fixture.work, "echo 11 > f; rm -r d; mkdir n; echo 3 > n/x");
  const changes = requestFor(fixture).changes.filter(
    ({ path }) => path !== "" && !path.startsWith("area"),
  );
  const request = requestFor(fixture, "move", { changes });
  stageChanges(request);
  expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
  expect(shell(fixture.root, "cat f n/x; ls")).toBe("11\n3\narea\nf\nn\n");
  reverseSteps(request);
  expectOracleEqual(old, takeOracle(fixture.root, { exclude: ["area"] }));
});

test("keeps owners of files, folders and links (R170)", () => {
  const fixture = makeFixture(
    "echo 1 > f; mkdir d; ln -s f l; chown 1001:2001 f; chown 1002:2002 d; chown -h 1003:2003 l; chmod 4755 f",
    `echo 11 > f; chown 1004:2004 f; chmod 4755 f; chown 1005:2005 d; ln -sfn g l; chown -h 1006:2006 l
     mkdir n; echo 2 > n/x; chown -R 1007:2007 n`,
  );
  commitAndUndo(fixture, "clone");
});

test("takes a half applied commit back when a file in the middle cannot be replaced", () => {
  const fixture = makeFixture(
    "for i in 1 2 3 4 5; do echo $i > f$i; done; mkdir d; echo 6 > d/f",
    "for i in 1 2 3 4 5; do echo new > f$i; done; rm -r d",
  );
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  const request = requestFor(fixture, "move");
  stageChanges(request);
  const stuck = join(fixture.root, "f3");
  run("chattr", "+i", stuck);
  try {
    expect(applySteps(request)).toMatchObject({
      applied: 2,
      failure: { path: "f3", code: "EPERM" },
    });
    expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
    expectOracleEqual(old, takeOracle(fixture.root));
  } finally {
    run("chattr", "-i", stuck);
  }
  expect(abandonStage(request)).toEqual({ stuck: [], remaining: [] });
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
});

function refusal(data: { readonly unit: string; readonly free?: number }): unknown {
  const matching: unknown = expect.objectContaining(data);
  return expect.objectContaining({ code: "INSUFFICIENT_SPACE", data: matching });
}

test("refuses before anything is written when the space or the inodes do not suffice (R248)", async () => {
  await using mounted = mountFileSystem("tmpfs", { megabytes: 8, mountOptions: ["nr_inodes=60"] });
  const fixture = makeFixture("true", "head -c 3000000 /dev/urandom > big", mounted.mountPoint);
  const old = takeOracle(fixture.root);
  const free = (): number =>
    Number(run("df", "--output=avail", "-B1", fixture.root).split("\n")[1]);
  const fill = (bytes: number): void => {
    shell(mounted.mountPoint, `head -c ${bytes} /dev/zero > filler`);
  };
  fill(free() - 3_000_000);
  expect(() => stageChanges(requestFor(fixture))).toThrow(refusal({ unit: "bytes", free: free() }));
  expect(isStageGone(fixture)).toBe(true);
  // A move takes no space of its own.
  stageChanges(requestFor(fixture, "move"));
  abandonStage(requestFor(fixture));
  shell(mounted.mountPoint, "rm filler");
  fill(free() - 3_000_000 - 200_000);
  stageChanges(requestFor(fixture));
  abandonStage(requestFor(fixture));
  shell(mounted.mountPoint, "rm filler");
  shell(fixture.work, "for i in $(seq 45); do : > e$i; done");
  expect(() => stageChanges(requestFor(fixture))).toThrow(refusal({ unit: "inodes" }));
  expect(isStageGone(fixture)).toBe(true);
  expectOracleEqual(old, takeOracle(fixture.root));
});

/** Runs one operation in a program of its own. */
async function operate(name: string, file: string, options: ChildOptions): Promise<unknown> {
  const program = new URL("./programs/run-steps.ts", import.meta.url);
  const { stdout, stderr } = await runChild(program, [name, file], options);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown;
}

test("works for an ordinary user in folders that forbid writing to their owner (R167)", async () => {
  const folder = tempFolder({ mode: 0o755 });
  const fixture = makeFixture(
    "mkdir -p a/b c/d gone/x; echo 1 > a/b/f; echo 2 > c/d/g; echo 3 > gone/x/h; chmod 500 a/b c/d; chmod 555 c gone",
    `chmod -R u+w a c gone; echo 11 > a/b/f; echo 22 > a/b/new; rm -r gone; mkdir -p n/o; echo 4 > n/o/p
     chmod 500 a/b n/o; chmod 555 n; chmod 511 c/d; chmod 555 c`,
    folder,
  );
  run("chown", "-R", `${nobody.uid}:${nobody.gid}`, folder);
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  const file = writeRequest(fixture, requestFor(fixture, "move"));
  const user = { uid: nobody.uid };
  expect(await operate("stage", file, user)).toMatchObject({ losses: [] });
  expect(await operate("apply", file, user)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(wanted, takeOracle(fixture.root));
  expect(await operate("reverse", file, user)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(await operate("giveBack", file, user)).toMatchObject({ stuck: [] });
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
  expect(await operate("drop", file, user)).toEqual([]);
  expect(isStageGone(fixture)).toBe(true);
});

test("tells owners that an ordinary user cannot give, and folders that are closed to them (R170)", async () => {
  const folder = tempFolder({ mode: 0o755 });
  const fixture = makeFixture(
    "mkdir mine theirs; echo 1 > mine/f; echo 2 > theirs/g",
    "echo 11 > mine/f; echo 22 > theirs/g",
    folder,
  );
  run("chown", "-R", `${nobody.uid}:${nobody.gid}`, folder);
  shell(fixture.root, "chown -R 0:0 theirs mine/f; chmod 755 theirs");
  shell(fixture.work, "chown 0:0 mine/f");
  const old = takeOracle(fixture.root);
  const file = writeRequest(fixture, requestFor(fixture, "clone"));
  const user = { uid: nobody.uid };
  expect(await operate("stage", file, user)).toMatchObject({
    losses: [{ path: "mine/f", owner: true }],
  });
  expect(await operate("apply", file, user)).toMatchObject({
    failure: { path: "theirs/g", code: "EACCES" },
  });
  expect(await operate("reverse", file, user)).toMatchObject({ failure: null });
  expectOracleEqual(old, takeOracle(fixture.root));
});

test("stages what an ordinary user may neither read nor give away, and tells the owner (R170, R262)", async () => {
  const folder = tempFolder({ mode: 0o755 });
  const fixture = makeFixture("echo 1 > f", "echo 11 > f; echo 2 > shut; chmod 0 shut", folder);
  run("chown", "-R", `${nobody.uid}:${nobody.gid}`, folder);
  const request = requestFor(fixture, "move");
  const changes = request.changes.map((change) =>
    change.path === "f" && change.after !== null
      ? { ...change, after: { ...change.after, uid: 0, gid: 0 } }
      : change,
  );
  const wanted = takeOracle(fixture.work);
  const file = writeRequest(fixture, { ...request, changes });
  const user = { uid: nobody.uid };
  expect(await operate("stage", file, user)).toMatchObject({
    losses: [{ path: "f", owner: true }],
  });
  expect(await operate("abandon", file, user)).toEqual({ stuck: [], remaining: [] });
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
});

test("leaves a folder of somebody else that its owner closed where it is (R262)", async () => {
  const folder = tempFolder({ mode: 0o755 });
  const fixture = makeFixture("mkdir theirs; echo 1 > f", "rmdir theirs; echo 11 > f", folder);
  run("chown", "-R", `${nobody.uid}:${nobody.gid}`, folder);
  shell(fixture.root, "chown 0:0 theirs; chmod 555 theirs");
  const old = takeOracle(fixture.root);
  const file = writeRequest(fixture, requestFor(fixture, "move"));
  const user = { uid: nobody.uid };
  await operate("stage", file, user);
  expect(await operate("apply", file, user)).toMatchObject({
    failure: { path: "theirs", code: "EACCES" },
  });
  expect(await operate("reverse", file, user)).toMatchObject({ failure: null });
  expectOracleEqual(old, takeOracle(fixture.root));
});

test("moves a folder of somebody else there and back, whose time an ordinary user cannot set (R262)", async () => {
  // xfs gives a folder that changes places with something else a new time.
  await using mounted = mountFileSystem("xfs");
  const fixture = makeFixture(
    "mkdir theirs; echo 1 > theirs/f; touch -d 2001-02-03 theirs",
    "rm -r theirs; echo mine > theirs",
    mounted.mountPoint,
  );
  run("chown", "-R", `${nobody.uid}:${nobody.gid}`, mounted.mountPoint);
  shell(fixture.root, "chown 0:0 theirs; chmod 777 theirs");
  const old = takeOracle(fixture.root);
  const file = writeRequest(fixture, requestFor(fixture, "move"));
  const user = { uid: nobody.uid };
  await operate("stage", file, user);
  expect(await operate("apply", file, user)).toMatchObject({ failure: null, shelved: [] });
  expect(readFileSync(join(fixture.root, "theirs"), "utf8")).toBe("mine\n");
  expect(await operate("reverse", file, user)).toMatchObject({ failure: null });
  expectOracleEqual(old, takeOracle(fixture.root), { ignore: ["directoryMtimes"] });
});

test("links the old entry aside where the file system cannot exchange names (R197)", async () => {
  const fixture = makeFixture(EVERY_KIND.base, EVERY_KIND.edit);
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  const file = writeRequest(fixture, requestFor(fixture, "move"));
  const log = join(fixture.area, "trace");
  const refuse = ["-e", "trace=renameat2", "-e", "inject=renameat2:error=EINVAL"];
  const options = { wrapper: ["strace", "-qq", "-f", "-o", log, ...refuse] };
  await operate("stage", file, options);
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(await operate("apply", file, options)).toMatchObject({
    failure: null,
    shelved: [],
    mode: "link",
  });
  expect(readFileSync(log, "latin1")).toContain("INJECTED");
  expectOracleEqual(wanted, takeOracle(fixture.root));
  expect(await operate("apply", file, options)).toMatchObject({ failure: null, shelved: [] });
  expect(await operate("reverse", file, options)).toMatchObject({ failure: null, shelved: [] });
  expect(await operate("reverse", file, options)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(await operate("giveBack", file, options)).toMatchObject({ stuck: [] });
  expect(await operate("drop", file, options)).toEqual([]);
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
  expect(existsSync(fixture.stage as BytePath)).toBe(false);
});
