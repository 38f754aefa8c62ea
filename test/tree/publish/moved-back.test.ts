import { expect, test } from "vitest";
import { abandonStage, stageChanges } from "../../../src/tree/publish/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { type Fixture, isStageGone, makeFixture, requestFor, shell } from "./fixture.ts";

/** Edits that were moved into a stage, and what somebody then did to the places they came from. */
function staged(script: string): Fixture {
  const fixture = makeFixture("mkdir d; echo 1 > d/f; echo 2 > g", "echo 11 > d/f; echo 22 > g");
  stageChanges(requestFor(fixture, "move"));
  shell(fixture.work, script);
  return fixture;
}

test.each([
  { what: "is taken", script: "echo theirs > g", left: ["g"], there: "11\ntheirs\n" },
  { what: "is gone with its folder", script: "rm -r d", left: ["d/f"], there: "22\n" },
  {
    what: "is behind a file now",
    script: "rm -r d; echo theirs > d",
    left: ["d/f"],
    there: "22\n",
  },
])(
  "keeps an edit in the stage whose place $what, and gives all others back (R262)",
  ({ script, left, there }) => {
    const fixture = staged(script);
    const old = takeOracle(fixture.root);
    const { stuck, remaining } = abandonStage(requestFor(fixture));
    expect(stuck.map(({ source }) => source.slice(fixture.work.length + 1))).toEqual(left);
    expect(remaining).toEqual([]);
    expect(isStageGone(fixture)).toBe(false);
    expect(shell(fixture.work, "cat d/f g 2>/dev/null || true")).toBe(there);
    expectOracleEqual(old, takeOracle(fixture.root));
    // Once the place is free again the rest goes there too.
    shell(fixture.work, `rm -rf ${left[0]}; test -d d || { rm -f d; mkdir d; }`);
    expect(abandonStage(requestFor(fixture))).toEqual({ stuck: [], remaining: [] });
    expect(shell(fixture.work, "cat d/f g")).toBe("11\n22\n");
    expect(isStageGone(fixture)).toBe(true);
  },
);
