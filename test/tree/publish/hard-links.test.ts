import { expect, it } from "vitest";
import type { RelativePath } from "../../../src/model/byte-path.ts";
import {
  type StageRequest,
  applySteps,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, makeFixture, requestFor, shell } from "./fixture.ts";

/** Changes of which some are said to be further names of other paths. */
function linked(fixture: Fixture, links: Readonly<Record<string, string>>): StageRequest {
  const request = requestFor(fixture);
  const changes = request.changes.map((change) => {
    const linkTo = links[change.path];
    return linkTo === undefined ? change : { ...change, linkTo: linkTo as RelativePath };
  });
  return { ...request, changes };
}

/** Publishes, gives which of the names are one file, and takes everything back. */
function groups(fixture: Fixture, request: StageRequest): string[][] {
  const old = takeOracle(fixture.root);
  stageChanges(request);
  expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
  const lines = shell(fixture.root, "find . -type f -printf '%i %P %s\\n'").trim().split("\n");
  const byInode = new Map<string, string[]>();
  for (const line of lines.toSorted()) {
    const [inode = "", path = ""] = line.split(" ");
    byInode.set(inode, [...(byInode.get(inode) ?? []), path].toSorted());
  }
  expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(old, takeOracle(fixture.root));
  return [...byInode.values()].filter((names) => names.length > 1);
}

const ADD = "echo same > one; echo same > two; echo same > three";

it.each([
  ["each by the first", { two: "one", three: "one" }],
  ["one by way of another", { one: "three", two: "one" }],
])("makes copies that the sandbox knows as one file one file again, %s", (_how, links) => {
  const fixture = makeFixture("echo old > kept", ADD);
  expect(groups(fixture, linked(fixture, links))).toEqual([["one", "three", "two"]]);
});

it("takes a file that is said to be its own further name for a file", () => {
  const fixture = makeFixture("echo old > kept", ADD);
  expect(groups(fixture, linked(fixture, { one: "one" }))).toEqual([]);
});

it("gives a real file that nobody changed its further names, also by way of one of them", () => {
  const fixture = makeFixture("echo same > kept", ADD);
  const request = linked(fixture, { one: "kept", two: "kept", three: "one" });
  expect(groups(fixture, request)).toEqual([["kept", "one", "two"]]);
});

it.each([
  ["is gone", "none"],
  ["is in a folder that is gone", "none/kept"],
  ["is below a file", "kept/inner"],
  ["is behind a link", "away/kept"],
  ["is a folder now", "folder"],
])("copies where the file that it was a name of %s", (_what, target) => {
  const fixture = makeFixture("echo old > kept; mkdir folder; ln -s . away", ADD);
  const request = linked(fixture, { one: target });
  expect(groups(fixture, request)).toEqual([]);
});

it("refuses to give a name to a file that somebody replaced since it was staged", () => {
  const fixture = makeFixture("mkdir d; echo same > d/kept", "echo same > d/one");
  const request = linked(fixture, { "d/one": "d/kept" });
  stageChanges(request);
  shell(fixture.root, "echo theirs > d/theirs; mv d/theirs d/kept");
  const before = takeOracle(fixture.root);
  expect(applySteps(request)).toMatchObject({ failure: { path: "d/one", code: "ESTALE" } });
  expect(reverseSteps(request)).toMatchObject({ failure: null });
  expectOracleEqual(before, takeOracle(fixture.root), { ignore: ["directoryMtimes"] });
});

it("refuses a change that has a new side but no source for it", () => {
  const fixture = makeFixture("echo old > kept", ADD);
  const request = requestFor(fixture);
  const changes = request.changes.map((change) => ({ ...change, source: null }));
  expect(() => stageChanges({ ...request, changes })).toThrow(
    expect.objectContaining({ code: "SANDBOX_COMMIT" }) as Error,
  );
  expect(shell(fixture.root, "ls")).toBe("kept\n");
});

it.each([
  ["is gone", "rm -r folder"],
  ["is a file now", "rm -r folder; echo theirs > folder"],
  ["is a link now", "mv folder away; ln -s away folder"],
])("finds that the folder of a file which is to have a further name %s (R262)", (_what, theirs) => {
  const fixture = makeFixture("mkdir folder; echo same > folder/kept", "echo same > one");
  const request = linked(fixture, { one: "folder/kept" });
  stageChanges(request);
  shell(fixture.root, theirs);
  expect(verifySteps(request)).toContainEqual({ path: "folder/kept", reason: "ancestorReplaced" });
});
