import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import {
  type Oracle,
  expectOracleEqual,
  oracleDifferences,
  takeOracle,
} from "../../support/oracle.ts";
import { samplePoints } from "../../support/sample-points.ts";
import { sweep } from "../../support/sweep.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

const program = new URL("./programs/one-call.ts", import.meta.url);

interface Prepared {
  readonly program: URL;
  readonly args: readonly string[];
  readonly touching: readonly string[];
  readonly sandbox: TestSandbox;
  readonly before: Oracle;
  readonly original: Oracle;
}

async function prepare(call: string): Promise<Prepared> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c");
  const original = takeOracle(root);
  const sandbox = await makeSandbox(root);
  const { workspace, place } = sandbox;
  await workspace.write(place, at("d/b"), Buffer.from("old\n"));
  await workspace.remove(place, at("a"));
  await workspace.checkpoint(place, "old");
  await workspace.write(place, at("d/b"), Buffer.from("newer\n"));
  await workspace.write(place, at("n/added"), Buffer.from("added\n"));
  const before = await walkView(sandbox);
  return {
    program,
    args: [root, call],
    touching: [displayPath(place.directory)],
    sandbox,
    before,
    original,
  };
}

/** What the call does when nobody disturbs it. */
async function finish({ workspace, place }: TestSandbox, call: string): Promise<void> {
  if (call === "write") await workspace.write(place, at("d/e/c"), Buffer.from("written\n"));
  if (call === "remove") await workspace.remove(place, at("d"));
  if (call === "rename") await workspace.rename(place, at("d"), at("n/renamed"));
  if (call === "checkpoint") await workspace.checkpoint(place, "new");
  if (call === "restore") await workspace.restore(place, "old");
  if (call === "discard") await workspace.discard(place);
}

function agree(a: Oracle, b: Oracle): boolean {
  return oracleDifferences(a, b, { ignore: ["mtimes"] }).length === 0;
}

/** Of each call, unless the run is a whole one. */
const POINTS = 6;

describe.each([
  ["checkpoint", "(R204)"],
  ["restore", "(R204, R205)"],
  ["discard", ""],
  ["write", ""],
  ["remove", ""],
  ["rename", ""],
] as const)("killed anywhere in %s", (call, ids) => {
  it(
    `leaves the old state or the new, and can be called again ${ids}`.trim(),
    async () => {
      const undisturbed = await prepare(call);
      await finish(undisturbed.sandbox, call);
      const after = await walkView(undisturbed.sandbox);
      const outcomes = new Set<string>();
      await sweep({
        prepare: () => prepare(call),
        fault: { signal: "KILL" },
        choose: samplePoints(POINTS),
        check: async ({ sandbox, before, original }) => {
          const { root, workspace, place } = sandbox;
          const found = await walkView(sandbox);
          const isOld = agree(found, before);
          const isNew = agree(found, after);
          // Folders that a path needs are made one by one, as `mkdir -p` does.
          const isBetween = call === "rename" && found.length > before.length;
          expect(isOld || isNew || isBetween).toBe(true);
          outcomes.add(isOld ? "old" : "new");
          expectOracleEqual(original, takeOracle(root));
          if (isOld) await finish(sandbox, call).catch(ignoreDuplicate);
          await workspace.restore(place, "old");
          expect((await workspace.read(place, at("d/b"))).toString()).toBe("old\n");
          expect(await workspace.destroy(place)).toEqual([]);
          expect(readdirSync(displayPath(place.directory))).toEqual([]);
        },
      });
      expect([...outcomes]).toContain("old");
      await undisturbed.sandbox[Symbol.asyncDispose]();
    },
    180_000,
  );
});

/** A checkpoint that was complete when the call died counts. */
function ignoreDuplicate(error: unknown): void {
  expect(error).toMatchObject({ code: "CHECKPOINT", data: { reason: "duplicate" } });
}
