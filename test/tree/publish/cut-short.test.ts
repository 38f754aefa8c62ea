import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type StageRequest,
  applySteps,
  dropStage,
  giveBack,
  reverseSteps,
  stageChanges,
} from "../../../src/tree/publish/index.ts";
import { type ChildResult, runChild } from "../../support/child.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { isWholeRun } from "../../support/sample-points.ts";
import { type Fixture, makeFixture, requestFor, shell, writeRequest } from "./fixture.ts";

const PROGRAM = new URL("./programs/run-steps.ts", import.meta.url);
const MINUTES = 60_000;
const TREE = "echo old > changed; echo gone > deleted; mkdir folder; echo x > folder/x";
const EDIT = "echo new > changed; rm deleted; echo new > added; rm -r folder; ln -s added folder";

interface Staged {
  readonly fixture: Fixture;
  readonly request: StageRequest;
  readonly old: Oracle;
  readonly wanted: Oracle;
}

function staged(tree = TREE, edit = EDIT): Staged {
  const fixture = makeFixture(tree, edit);
  const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
  const request = requestFor(fixture, "move");
  stageChanges(request);
  return { fixture, request, old, wanted };
}

/** Runs an operation where the file system cannot exchange names, and kills it at the n-th of these calls. */
function operate(
  { fixture, request }: Staged,
  operation: "apply" | "reverse",
  killed?: { readonly call: string; readonly at: number },
): Promise<ChildResult> {
  const kill = killed === undefined ? [] : [`inject=${killed.call}:signal=KILL:when=${killed.at}`];
  const injected = ["inject=renameat2:error=EINVAL", ...kill].flatMap((rule) => ["-e", rule]);
  const calls = `trace=renameat2${killed === undefined ? "" : `,${killed.call}`}`;
  const wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", calls, ...injected];
  return runChild(PROGRAM, [operation, writeRequest(fixture, request)], { wrapper });
}

/** Takes everything back, and gives the sandbox its files. */
function expectUndone({ fixture, request, old, wanted }: Staged): void {
  expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
  expectOracleEqual(old, takeOracle(fixture.root));
  expect(giveBack(request).stuck).toEqual([]);
  expect(dropStage(request)).toEqual([]);
  expect(existsSync(fixture.stage)).toBe(false);
  expectOracleEqual(wanted, takeOracle(fixture.work), { ignore: ["directoryMtimes"] });
}

/** Goes on where the other process was, as one that cannot exchange names either; or does nothing of the kind. */
const NEXT: readonly ((site: Staged, operation: "apply" | "reverse") => Promise<void>)[] = [
  () => Promise.resolve(),
  async (site, operation) => {
    expect((await operate(site, operation)).code).toBe(0);
    expectOracleEqual(
      operation === "apply" ? site.wanted : site.old,
      takeOracle(site.fixture.root),
    );
  },
];

/** In a run that takes samples every second death is left out. */
const STRIDE = isWholeRun ? 1 : 2;

/** Kills an operation at the calls of a kind, goes on in one way or the other, and takes everything back. */
async function killAtEach(
  call: string,
  operation: "apply" | "reverse",
  arrange: () => Staged,
): Promise<number> {
  for (let deaths = 0; ; deaths++) {
    const site = arrange();
    const { signal } = await operate(site, operation, { call, at: 1 + deaths * STRIDE });
    if (signal !== null) await NEXT[deaths % NEXT.length]!(site, operation);
    expectUndone(site);
    if (signal === null) return deaths;
  }
}

const CALLS = ["linkat", "unlinkat", "rename"];

it.each(CALLS)(
  "goes on or back after a death at any %s, where names cannot be exchanged (R177, R197)",
  async (call) => {
    expect(await killAtEach(call, "apply", () => staged())).toBeGreaterThan(0);
  },
  2 * MINUTES,
);

it.each(CALLS)(
  "finishes the way back after a death at any %s, where names cannot be exchanged (R177, R197)",
  async (call) => {
    const published = (): Staged => {
      const site = staged();
      mkdirSync(join(site.fixture.stage, "kept"));
      expect(applySteps(site.request)).toMatchObject({ failure: null, mode: "link" });
      return site;
    };
    expect(await killAtEach(call, "reverse", published)).toBeGreaterThan(0);
  },
  2 * MINUTES,
);

it("puts back what was exchanged, when the file system forgets how to do that in between (R197)", async () => {
  const site = staged();
  expect(applySteps(site.request)).toMatchObject({ failure: null, mode: "exchange" });
  expect((await operate(site, "reverse")).code).toBe(0);
  expectUndone(site);
});

it("keeps a copy of the old entry where it may have no further name", async () => {
  const site = staged(
    "echo old > changed; ln -s here link",
    "echo new > changed; ln -sfn there link",
  );
  const { fixture, request } = site;
  const rules = ["renameat2:error=EINVAL", "linkat:error=EPERM"];
  const injected = rules.flatMap((rule) => ["-e", `inject=${rule}`]);
  const wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", ...injected];
  const done = await runChild(PROGRAM, ["apply", writeRequest(fixture, request)], { wrapper });
  expect(JSON.parse(done.stdout)).toMatchObject({ failure: null, mode: "link" });
  expectOracleEqual(site.wanted, takeOracle(fixture.root));
  expect(shell(join(fixture.stage, "kept"), "cat $(find -type f); readlink $(find -type l)")).toBe(
    "old\nhere\n",
  );
  expectUndone(site);
});
