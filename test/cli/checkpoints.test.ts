import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { coffer, makeHome } from "./coffer.ts";

test("keeps states of a plan, comes back to them, and forks it from one", () => {
  const home = makeHome({ "site/a.txt": "a\n" });
  answerOf(home, ["open", "try", "-r", "filesystem_copy+dir:./site"]);
  const pathOf = (plan: string): string =>
    join((answerOf(home, ["path", plan]) as { path: string }).path, "a.txt");
  writeFileSync(pathOf("try"), "first\n");
  expect(answerOf(home, ["checkpoint", "try"])).toEqual({ planId: "try", checkpoint: "c1" });
  writeFileSync(pathOf("try"), "second\n");
  const named = coffer(home, ["checkpoint", "try", "before-upgrade"]);
  expect(named).toMatchObject({ code: 0, stdout: "" });
  expect(named.stderr).toContain("coffer restore try before-upgrade");

  expect(answerOf(home, ["restore", "try", "c1"])).toEqual({
    ...{ planId: "try", checkpoint: "c1", keptAs: expect.stringMatching(/^auto-/) as string },
  });
  expect(readFileSync(pathOf("try"), "utf8")).toBe("first\n");
  const kept = answerOf(home, ["checkpoints", "try"]) as readonly { readonly id: string }[];
  expect(kept).toMatchObject([
    { id: "c1", automatic: false, isCurrent: true, resources: ["site"] },
    { id: "before-upgrade", automatic: false, isCurrent: false },
    { automatic: true },
  ]);
  expect(answerOf(home, ["status", "try"])).toMatchObject({ checkpoints: kept });
  const { stdout } = coffer(home, ["checkpoints", "try", "-q"]);
  expect(stdout).toMatch(
    /^CHECKPOINT +MADE\nc1 .* current\nbefore-upgrade .*\nauto-.* automatic, /,
  );

  expect(answerOf(home, ["fork", "try", "other", "--from", "before-upgrade"])).toMatchObject({
    ...{ planId: "other", state: "open", sandboxes: [{ resourceId: "site", status: "ACTIVE" }] },
  });
  expect(readFileSync(pathOf("other"), "utf8")).toBe("second\n");
  expect(readFileSync(pathOf("try"), "utf8")).toBe("first\n");

  expect(answerOf(home, ["restore", "try", "c7"], 1)).toMatchObject({
    error: {
      ...{ code: "CHECKPOINT", data: { reason: "unknown" } },
      hint: "`coffer checkpoints try` lists them.",
    },
  });
  expect(answerOf(home, ["fork", "try", "other"], 1)).toMatchObject({
    error: { code: "SANDBOX_CREATION", data: { stage: "exists" } },
  });
  expect(answerOf(home, ["clean", "--abandoned"])).toMatchObject({
    spared: { try: "kept", other: "kept" },
  });
});
