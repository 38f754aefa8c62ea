import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../../src/model/byte-path.ts";
import {
  type StageRequest,
  applySteps,
  checkUndo,
  dropStage,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, makeFixture, requestFor, shell } from "./fixture.ts";

const BASE = "echo base > file; ln -s base link; echo one > one; ln one two";
const FIRST = "echo PPPP > file; ln -sfn p link; echo uno > one; rm two; ln one two; echo n > new";
const SECOND = "echo QQ > file; rm link one two new; echo other > one";

/** Stages what differs now, as the commit of a sandbox of its own. */
function stageFor(fixture: Fixture, sandbox: string, mode = "exchange"): StageRequest {
  const folder = join(fixture.area, "sandboxes", sandbox);
  mkdirSync(folder, { recursive: true });
  const request = requestFor(fixture, "clone", { stage: join(folder, "tx-1-0") as BytePath });
  stageChanges(request);
  // As on a file system that cannot exchange two names.
  if (mode === "link") mkdirSync(join(request.stage, "kept"));
  return request;
}

function publish(request: StageRequest): void {
  expect(verifySteps(request)).toEqual([]);
  expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
}

function takeBack(request: StageRequest): void {
  expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
  expect(dropStage(request)).toEqual([]);
}

/** A commit that is published, and a second one over the same paths that is staged. */
function commits(mode?: string): {
  readonly fixture: Fixture;
  readonly first: StageRequest;
  readonly second: StageRequest;
} {
  const fixture = makeFixture(BASE, FIRST);
  const first = stageFor(fixture, "first", mode);
  publish(first);
  shell(fixture.work, SECOND);
  return { fixture, first, second: stageFor(fixture, "second", mode) };
}

test.each(["exchange", "link"])(
  "a commit can be taken back after later ones over its files came and went, also twice: by %s",
  (mode) => {
    const { fixture, first, second } = commits(mode);
    const published = takeOracle(fixture.root);
    publish(second);
    takeBack(second);
    expect(checkUndo(first)).toEqual({ status: "ready" });
    for (const name of ["third", "fourth"]) {
      const later = stageFor(fixture, name, mode);
      publish(later);
      expect(checkUndo(first).status).toBe("foreignEdits");
      takeBack(later);
      expect(checkUndo(first)).toEqual({ status: "ready" });
    }
    expectOracleEqual(published, takeOracle(fixture.root));
    expect(reverseSteps(first)).toMatchObject({ failure: null, shelved: [] });
    expect(shell(fixture.root, "cat file one two; readlink link; ls | wc -l")).toBe(
      "base\none\none\nbase\n4\n",
    );
  },
);

const SAME_LOOKS = "touch -r file ../t; printf 'XXXX\\n' > file; touch -r ../t file";

test.each([
  ["between the last check and the exchange, with size and time kept", SAME_LOOKS],
  ["of the mode between the last check and the exchange", "chmod 600 file"],
])("an edit %s is not taken for what was published (R42)", (_when, script) => {
  const { fixture, first, second } = commits();
  expect(verifySteps(second)).toEqual([]);
  shell(fixture.root, script);
  expect(applySteps(second)).toMatchObject({ failure: null });
  takeBack(second);
  expect(checkUndo(first)).toEqual({ status: "foreignEdits", paths: ["file"] });
});

test("nothing is taken for proven when it is not known what happened before the exchange", () => {
  const { first, second } = commits();
  publish(second);
  // As after a crash between the last step and its record.
  rmSync(join(second.stage, "applied"));
  expect(applySteps(second)).toMatchObject({ failure: null, shelved: [] });
  takeBack(second);
  expect(checkUndo(first)).toEqual({
    status: "foreignEdits",
    paths: ["file", "link", "new", "one", "two"],
  });
});

test("an edit of a file that lies in the stage is not taken for what was published", () => {
  const { fixture, first, second } = commits();
  publish(second);
  // Somebody who had it open writes on, and hides that.
  const kept = shell(second.stage, "grep -lx PPPP -r entries").trim();
  shell(second.stage, `touch -r ${kept} ../t; printf 'XXXX\\n' > ${kept}; touch -r ../t ${kept}`);
  takeBack(second);
  expect(shell(fixture.root, "cat file")).toBe("XXXX\n");
  expect(checkUndo(first)).toEqual({ status: "foreignEdits", paths: ["file"] });
});

test("takes a commit back beside sandboxes whose records are damaged, and beside what is none", () => {
  const { fixture, first, second } = commits();
  publish(second);
  const sandboxes = join(fixture.area, "sandboxes");
  writeFileSync(join(sandboxes, "a-file"), "");
  mkdirSync(join(sandboxes, "other/tx-0-0"), { recursive: true });
  writeFileSync(join(sandboxes, "other/tx-0-0/applied"), "damaged");
  mkdirSync(join(sandboxes, "empty/tx-0-0"), { recursive: true });
  takeBack(second);
  expect(checkUndo(first)).toEqual({ status: "ready" });
});
