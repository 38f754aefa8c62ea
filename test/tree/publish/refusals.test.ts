import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath, RelativePath } from "../../../src/model/byte-path.ts";
import { applySteps, stageChanges, verifySteps } from "../../../src/tree/publish/index.ts";
import type { TreeChange } from "../../../src/tree/tree-change.ts";
import { faultPoints } from "../../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import {
  EVERY_KIND,
  isStageGone,
  makeFixture,
  requestFor,
  run,
  shell,
  writeRequest,
} from "./fixture.ts";

function example() {
  const fixture = makeFixture("echo 1 > f; mkdir d; echo 2 > d/g", "echo 11 > f; echo 22 > d/g");
  return { fixture, request: requestFor(fixture, "move") };
}

const ESCAPES: Readonly<Record<string, string>> = {
  "a parent folder": "../f",
  "a parent folder inside": "d/../../f",
  "an absolute path": "/etc/passwd",
  "an empty part": "d//g",
  "a dot": "./f",
  "a zero byte": "d\0/g",
};

for (const [what, path] of Object.entries(ESCAPES)) {
  test(`refuses to publish ${what} (R228)`, () => {
    const { fixture, request } = example();
    const before = takeOracle(fixture.root);
    const [change] = request.changes.filter((one) => one.path === "f");
    const changes = [{ ...change, path: path as RelativePath } as TreeChange];
    expect(() => stageChanges({ ...request, changes })).toThrow(
      expect.objectContaining({ code: "PATH_ESCAPE" }),
    );
    expect(isStageGone(fixture)).toBe(true);
    expectOracleEqual(before, takeOracle(fixture.root));
  });
}

test("refuses the machine's root, odd places and sources from elsewhere (R228)", () => {
  const { fixture, request } = example();
  const outside = join(fixture.area, "..", "outside");
  writeFileSync(outside, "x");
  const refused = [
    { root: "/" as BytePath },
    { root: `${fixture.root}/` as BytePath },
    { root: "root" as BytePath },
    { root: `${fixture.root}/../root` as BytePath },
    { stage: fixture.root as BytePath },
    { stage: join(fixture.area, "..") as BytePath },
    { stage: "stage" as BytePath },
    { only: "d" as BytePath },
    { exclude: ["f" as RelativePath] },
    {
      changes: request.changes.map((change) =>
        change.path === "f" ? { ...change, source: outside as BytePath } : change,
      ),
    },
  ];
  for (const wrong of refused) {
    expect(() => stageChanges({ ...request, ...wrong })).toThrow(
      expect.objectContaining({ code: "PATH_ESCAPE" }),
    );
  }
  expect(readdirSync(fixture.area)).toEqual(["work"]);
});

test("follows no link: not as root, not below the root, not below the sources (R228)", () => {
  const { fixture, request } = example();
  const alias = join(fixture.area, "alias");
  symlinkSync(fixture.root, alias);
  const [swapped, sources] = [example(), example()];
  shell(swapped.fixture.root, "mv d e; ln -s e d");
  shell(sources.fixture.work, "mv d e; ln -s e d");
  const attempts = [{ ...request, root: alias as BytePath }, swapped.request, sources.request];
  for (const attempt of attempts) {
    expect(() => stageChanges(attempt)).toThrow(
      expect.objectContaining({ code: "SANDBOX_COMMIT" }),
    );
    expect(existsSync(attempt.stage)).toBe(false);
  }
});

test("refuses special files, an existing stage and a workspace that changed meanwhile", () => {
  const { fixture, request } = example();
  const special = request.changes.map((change) =>
    change.path === "f" && change.after !== null
      ? { ...change, after: { ...change.after, type: "special" as const } }
      : change,
  );
  expect(() => stageChanges({ ...request, changes: special })).toThrow(
    expect.objectContaining({ code: "SANDBOX_PATH" }),
  );
  writeFileSync(join(fixture.work, "f"), "changed again");
  expect(() => stageChanges(request)).toThrow(
    expect.objectContaining({
      code: "SANDBOX_COMMIT",
      data: { originalRestored: true, undoDataAt: null, failedPath: "f", appliedCount: 0 },
    }),
  );
  expect(isStageGone(fixture)).toBe(true);
  mkdirSync(fixture.stage);
  writeFileSync(join(fixture.stage, "mine"), "x");
  expect(() => stageChanges(requestFor(fixture))).toThrow(
    expect.objectContaining({ code: "SANDBOX_COMMIT" }),
  );
  expect(readdirSync(fixture.stage)).toEqual(["mine"]);
});

test("keeps the stage private, whatever its folder would pass on (R175)", () => {
  const { fixture, request } = example();
  run("setfacl", "-d", "-m", "u:1234:rwx", fixture.area);
  run("chmod", "2775", fixture.area);
  stageChanges(request);
  expect(lstatSync(fixture.stage).mode & 0o777).toBe(0o700);
  applySteps(request);
  expect(run("getfattr", "-d", "-m", "-", join(fixture.root, "f"))).toBe("");
});

test("changes nothing below the root while staging (R26)", async () => {
  const fixture = makeFixture(EVERY_KIND.base, EVERY_KIND.edit);
  const points = await faultPoints({
    program: new URL("./programs/run-steps.ts", import.meta.url),
    args: ["stage", writeRequest(fixture, requestFor(fixture, "move"))],
    touching: [fixture.root, fixture.area],
  });
  // The tracer cannot see that openat2 only reads here: its flags lie in a structure.
  const changing = points.filter(({ call }) => call !== "openat2");
  const below = changing
    .flatMap(({ paths }) => paths)
    .filter((path) => path.startsWith(fixture.root));
  expect(below).toEqual([]);
  expect(points.map(({ call }) => call)).toContain("syncfs");
});

test("publishes the parts of a git folder in the order in which git needs them", async () => {
  const fixture = makeFixture(
    "git init -q .; git config user.email a@b; git config user.name a; echo 1 > f; git add f; git commit -qm 1",
    "echo 2 > f; git add f; git commit -qm 2; git branch other; git gc -q; git branch third",
  );
  const request = requestFor(fixture, "clone");
  const { paths } = await published(fixture, request);
  const arriving = paths.filter((path) => existsSync(join(fixture.work, path)));
  const ranks = arriving.map(rank);
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  const going = paths.filter((path) => !existsSync(join(fixture.work, path)));
  const lastObjects = going.filter((path) => rank(path) === 0);
  expect(lastObjects.length).toBeGreaterThan(0);
  expect(paths.slice(-lastObjects.length)).toEqual(lastObjects);
  expect(run("git", "-C", fixture.root, "fsck", "--strict")).toBe("");
  expect(run("git", "-C", fixture.root, "status", "--porcelain")).toBe("");
  // On the way back whatever names an object goes before it.
  expect(await traced("reverse", fixture, request)).toEqual(paths.toReversed());
});

/** Objects, work files, references, index. */
function rank(path: string): number {
  if (path.includes("objects")) return 0;
  if (path.endsWith("/index")) return 3;
  return /\/(?:refs|logs)(?:\/|$)|(?:HEAD|packed-refs)$/.test(path) ? 2 : 1;
}

/** Publishes in a traced program and gives the changed paths in their order. */
async function published(
  fixture: ReturnType<typeof makeFixture>,
  request: ReturnType<typeof requestFor>,
): Promise<{ paths: string[] }> {
  stageChanges(request);
  expect(verifySteps(request)).toEqual([]);
  return { paths: await traced("apply", fixture, request) };
}

/** The paths below the root that an operation renames, in their order. */
async function traced(
  operation: string,
  fixture: ReturnType<typeof makeFixture>,
  request: ReturnType<typeof requestFor>,
): Promise<string[]> {
  const points = await faultPoints({
    program: new URL("./programs/run-steps.ts", import.meta.url),
    args: [operation, writeRequest(fixture, request)],
    touching: [fixture.root],
  });
  const renames = points.filter(({ call }) => call === "renameat2");
  const below = renames.flatMap(({ paths }) =>
    paths.filter((path) => path.startsWith(fixture.root)),
  );
  return below.map((path) => path.slice(fixture.root.length + 1));
}
