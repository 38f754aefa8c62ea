import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type StageRequest,
  applySteps,
  checkUndo,
  dropUndoData,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { EVERY_KIND, type Fixture, makeFixture, requestFor, run, shell } from "./fixture.ts";

/** A staged transaction over every kind of change. */
function staged(): { fixture: Fixture; request: StageRequest; wanted: Oracle } {
  const fixture = makeFixture(EVERY_KIND.base, EVERY_KIND.edit);
  const wanted = takeOracle(fixture.work);
  const request = requestFor(fixture, "move");
  stageChanges(request);
  return { fixture, request, wanted };
}

const BEFORE_VERIFY: Readonly<Record<string, readonly [script: string, mismatches: string[]]>> = {
  "a rewritten file": ["echo mine > modified", ["modified changed"]],
  "a chmod": ["chmod 600 modified", ["modified changed"]],
  "a replaced file": ["echo old > t; mv t modified", ["modified changed"]],
  "a removed file": ["rm modified", ["modified missing"]],
  "a file where one will be removed": ["echo x >> deleted", ["deleted changed"]],
  "a file where one will be created": ["echo x > new", ["new exists"]],
  "a link where one will be created": ["ln -s /etc/passwd new", ["new exists"]],
  "a folder where one will be created": ["mkdir added", ["added exists"]],
  "a new file in a removed folder": ["echo x > removed/deep/x", ["removed/deep/x exists"]],
  "a changed file in a removed folder": [
    "echo x > removed/deep/file",
    ["removed/deep/file changed"],
  ],
  "a missing file in a removed folder": ["rm removed/deep/file", ["removed/deep/file missing"]],
  "a changed file in a folder that becomes a link": [
    "echo x > folderToLink/x",
    ["folderToLink/x changed"],
  ],
  "another folder": [
    "mv folder f; mkdir folder; cp -p f/inner folder",
    ["folder ancestorReplaced", "folder/inner ancestorReplaced"],
  ],
  "a link in place of a folder": [
    "mv folder f; ln -s f folder",
    ["folder ancestorReplaced", "folder/inner ancestorReplaced"],
  ],
  "a chmod of a folder": ["chmod 700 folder", ["folder changed"]],
  "an unrelated file": ["echo x > unrelated; echo y > keep; echo z > folder/unrelated", []],
};

for (const [what, [script, mismatches]] of Object.entries(BEFORE_VERIFY)) {
  test(`sees ${what} before anything is published (R43)`, () => {
    const { fixture, request } = staged();
    shell(fixture.root, script);
    const before = takeOracle(fixture.root);
    expect(verifySteps(request).map(({ path, reason }) => `${path} ${reason}`)).toEqual(mismatches);
    expectOracleEqual(before, takeOracle(fixture.root));
  });
}

const AFTER_VERIFY: Readonly<
  Record<string, readonly [script: string, path: string, content: string]>
> = {
  "rewrote a file": ["echo mine > modified", "modified", "mine\n"],
  "replaced a file": ["echo mine > t; mv t modified", "modified", "mine\n"],
  "created the same file": ["echo mine > new", "new", "mine\n"],
  "rewrote a file that goes": ["echo mine > deleted", "deleted", "mine\n"],
  "wrote into a folder that goes": ["echo mine > removed/deep/file", "removed/deep/file", "mine\n"],
  "added to a folder that goes": ["echo mine > removed/mine", "removed/mine", "mine\n"],
  "added to a folder that becomes a link": [
    "echo mine > folderToLink/mine",
    "folderToLink/mine",
    "mine\n",
  ],
};

for (const [what, [script, path, content]] of Object.entries(AFTER_VERIFY)) {
  test(`keeps and tells the version of somebody who ${what} at the last moment, and brings it back`, () => {
    const { fixture, request, wanted } = staged();
    shell(fixture.root, script);
    const before = takeOracle(fixture.root);
    const { failure, shelved } = applySteps(request);
    expect(failure).toBeNull();
    expect(shelved.map((one) => one.path)).toEqual([path]);
    expect(readFileSync(shelved[0]?.keptAt ?? "", "latin1")).toBe(content);
    expectOracleEqual(wanted, takeOracle(fixture.root));
    expect(applySteps(request).shelved).toEqual(shelved);
    expect(reverseSteps(request).failure).toBeNull();
    // The time of a folder in which the other one made a name is the one from before that.
    expectOracleEqual(before, takeOracle(fixture.root), { ignore: ["directoryMtimes"] });
  });
}

test("publishes a file that somebody removed at the last moment", () => {
  const { fixture, request } = staged();
  shell(fixture.root, "rm modified deleted");
  expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
  expect(shell(fixture.root, "cat modified")).toBe("newer\n");
  expect(reverseSteps(request).failure).toBeNull();
  expect(run("find", fixture.root, "-name", "modified", "-o", "-name", "deleted")).toBe("");
});

test("stops with the path when a folder has been swapped, and comes back", () => {
  const { fixture, request } = staged();
  shell(fixture.root, "mv folder other; ln -s other folder");
  const before = takeOracle(fixture.root);
  expect(applySteps(request).failure).toMatchObject({ path: "folder/inner", code: "ENOTDIR" });
  expect(shell(fixture.root, "cat other/inner")).toBe("inner\n");
  expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
  // The root's time is the one from before the other one's rename.
  expectOracleEqual(before, takeOracle(fixture.root), { ignore: ["rootMtime"] });
});

const AFTER_COMMIT: Readonly<Record<string, readonly [script: string, paths: string[]]>> = {
  "a rewritten file": ["echo mine >> modified", ["modified"]],
  "a touched file": ["touch modified", ["modified"]],
  "a chmod": ["chmod 600 new", ["new"]],
  "a replaced file": ["echo mine > t; mv t modified; rm -f t", ["modified"]],
  "a removed file": ["rm new", ["new"]],
  "a file that came back": ["echo mine > deleted", ["deleted"]],
  "a new file in a new folder": ["echo mine > added/mine", ["added/mine"]],
  "a changed file in a new folder": ["echo mine > added/a", ["added/a", "added/b"]],
  "a chmod of a folder": ["chmod 700 folder", ["folder"]],
  "a swapped folder": ["mv folder f; cp -r f folder", ["folder", "folder/inner"]],
};

for (const [what, [script, paths]] of Object.entries(AFTER_COMMIT)) {
  test(`refuses to take a commit back over ${what} (R42)`, () => {
    const { fixture, request } = staged();
    applySteps(request);
    shell(fixture.root, script);
    expect(checkUndo(request)).toEqual({ status: "foreignEdits", paths });
  });
}

test("refuses to take a commit back over an edit through a further name of the old file (R42, R197)", () => {
  const fixture = makeFixture("echo 1 > a; ln a b", "echo 2 > t; mv t a");
  const changes = requestFor(fixture).changes.filter(({ path }) => path !== "b");
  const request = requestFor(fixture, "clone", { changes });
  stageChanges(request);
  applySteps(request);
  expect(checkUndo(request)).toEqual({ status: "ready" });
  shell(fixture.root, "echo mine >> b");
  expect(checkUndo(request)).toEqual({ status: "foreignEdits", paths: ["a"] });
});

test("takes a commit back although unrelated files changed (R42)", () => {
  const { fixture, request } = staged();
  applySteps(request);
  shell(fixture.root, "echo mine > keep; echo mine > mine; echo mine > folder/mine");
  expect(checkUndo(request)).toEqual({ status: "ready" });
  expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
  expect(shell(fixture.root, "cat keep mine folder/mine modified")).toBe("mine\nmine\nmine\nold\n");
});

const DAMAGE: Readonly<Record<string, string>> = {
  "a flipped byte in a kept file":
    "f=$(find entries -type f -size -2 | sort | head -1); printf X | dd of=$f conv=notrunc bs=1 status=none",
  "a flipped byte in a kept folder":
    "f=$(find entries -mindepth 3 -type f | sort | head -1); printf X | dd of=$f conv=notrunc bs=1 status=none",
  "a missing kept file": "rm $(find entries -maxdepth 1 -type f | sort | head -1)",
  "a missing folder of kept files": "rm -r entries",
  "a flipped byte in the steps": "printf X | dd of=steps conv=notrunc bs=1 seek=200 status=none",
  "a flipped byte in the outcome":
    "printf X | dd of=applied conv=notrunc bs=1 seek=200 status=none",
  "missing steps": "rm steps",
  "a missing outcome": "rm applied",
  "a missing stage": "rm -r ../stage",
};

for (const [what, script] of Object.entries(DAMAGE)) {
  test(`tells that undo data is missing or damaged after ${what} (R32, R176)`, () => {
    const { fixture, request } = staged();
    applySteps(request);
    const committed = takeOracle(fixture.root);
    shell(fixture.stage, script);
    expect(checkUndo(request)).toMatchObject({ status: "undoDataMissing" });
    expectOracleEqual(committed, takeOracle(fixture.root));
  });
}

test("gives undo data up, but never a version that somebody slipped in, which is nowhere else", () => {
  const { fixture, request } = staged();
  shell(fixture.root, "echo mine > modified");
  const { shelved } = applySteps(request);
  expect(shelved.map(({ path }) => path)).toEqual(["modified"]);
  expect(dropUndoData(request)).toBe(false);
  expect(readFileSync(Buffer.from(shelved[0]?.keptAt ?? "", "latin1"), "utf8")).toBe("mine\n");
  const other = staged();
  expect(applySteps(other.request).shelved).toEqual([]);
  expect(dropUndoData(other.request)).toBe(true);
  expect(checkUndo(other.request)).toMatchObject({ status: "undoDataMissing" });
  expect(dropUndoData(other.request)).toBe(true);
  expectOracleEqual(other.wanted, takeOracle(other.fixture.root), { ignore: ["directoryMtimes"] });
});
