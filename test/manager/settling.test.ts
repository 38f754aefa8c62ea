import { describe, expect, it, test } from "vitest";
import { ALLOWED_FROM, type Sandbox } from "../../src/index.ts";
import { edit, openSite, sandboxOf } from "./site.ts";

describe.each(["overlay", "copy_on_write", "filesystem_copy"])("a sandbox of %s", (strategy) => {
  const calls: Record<"drop" | "resolve", (sandbox: Sandbox) => Promise<void>> = {
    drop: (sandbox) => sandbox.drop(["a"]),
    resolve: (sandbox) => sandbox.resolve(["a"], "mine"),
  };

  it.each(["drop", "resolve"] as const)("allows %s where it can be edited (R16)", async (call) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await calls[call](sandbox);
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    await sandbox.commit();
    await expect(calls[call](sandbox)).rejects.toMatchObject({
      code: "SANDBOX_STATE",
      data: { status: "COMMITTED", attempted: call, allowedFrom: ALLOWED_FROM[call] },
    });
    await sandbox.rollback();
    await sandbox.cleanup();
    await expect(calls[call](sandbox)).rejects.toMatchObject({ code: "SANDBOX_STATE" });
  });

  it("takes paths back by the plan as well, and never one that leads out (R227)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    const plan = await site.coffer.plan("plan");
    const { resourceId } = sandbox.ref;
    await plan.drop(resourceId, ["a", "b"]);
    await plan.resolve(resourceId, ["made"], "mine");
    const { changes } = await sandbox.diff();
    expect(changes.map(({ path }) => path)).toEqual(["made", "made/new"]);
    for (const path of ["../data/a", "/etc/passwd", "made/../../a"])
      await expect(plan.drop(resourceId, [path])).rejects.toMatchObject({ code: "PATH_ESCAPE" });
    await sandbox.cleanup({ force: true });
  });
});

test("a strategy that cannot take single edits back says so", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "probe");
  await edit(sandbox);
  await expect(sandbox.drop(["a"])).rejects.toMatchObject({ code: "UNSUPPORTED_STRATEGY" });
  await expect(sandbox.resolve(["a"], "mine")).rejects.toMatchObject({
    code: "UNSUPPORTED_STRATEGY",
  });
  await sandbox.cleanup({ force: true });
});
