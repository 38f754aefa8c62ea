import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import type { Order, Told } from "./order.ts";
import { makePlace, openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);

it("keeps resource and edits when a write stops in the middle of a file, and commits afterwards (R17, R28)", async () => {
  const place = makePlace("printf small > a.txt; seq 1 400000 > large.txt; mkdir docs");
  await using coffer = await openPlace(place);
  const ref = await coffer.create("plan", place.real, { strategy: "filesystem_copy" });
  const sandbox = coffer.sandbox(ref);
  const workspace = await sandbox.getPath();
  shell(workspace, "printf edited > a.txt; seq 1 400001 > large.txt; printf new > docs/z.txt");
  const [before, edited] = [takeOracle(place.real), takeOracle(workspace)];
  const { digest } = await sandbox.diff();

  const order: Order = { state: place.state, operation: "commit", ref };
  const limited = ["prlimit", "--fsize=1000000"];
  const run = await runChild(PROGRAM, [JSON.stringify(order)], { wrapper: limited });

  expect(run).toMatchObject({ code: 0, signal: null });
  const { outcome, error } = JSON.parse(run.stdout) as Told;
  expect(outcome).toBe("failed");
  expect(error).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: true, undoDataAt: null, failedPath: "large.txt" },
  });
  expect(JSON.stringify(error)).toContain("EFBIG");
  expectOracleEqual(before, takeOracle(place.real));
  expect(await coffer.status(ref)).toBe("ACTIVE");
  expect((await sandbox.diff()).digest).toBe(digest);
  expect(shell(place.state, "find area -name 'tx-*'")).toBe("");

  await sandbox.commit({ expect: digest });
  expectOracleEqual(edited, takeOracle(place.real));
  await sandbox.cleanup();
});
