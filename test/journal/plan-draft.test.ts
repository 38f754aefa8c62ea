import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { idKey } from "../../src/journal/id-key.ts";
import { SandboxStore } from "../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { runChild } from "../support/child.ts";
import { faultPoints, runUntil, type TracedProgram } from "../support/faults.ts";
import { ordinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/draft-plan.ts", import.meta.url);

async function openStore(): Promise<{ store: SandboxStore; plans: string }> {
  const { path } = await openStateDirectory(join(tempFolder(), "state"));
  return { store: new SandboxStore(path), plans: join(path, "plans") };
}

async function drafting(): Promise<TracedProgram & { readonly plans: string }> {
  const { path } = await openStateDirectory(join(tempFolder(), "state"));
  const plans = join(path, "plans");
  return { program, args: [path, "plan"], touching: [plans], plans };
}

it("does not replace a plan of the same id that appeared meanwhile (R262)", async () => {
  const { store, plans } = await openStore();
  await using draft = await store.draftPlan("plan");
  await store.ensurePlan("plan");
  expect(await draft.publish()).toBe(false);
  expect(draft.isPublished).toBe(false);
  draft.remove();
  expect(readdirSync(plans)).toEqual([idKey("plan")]);
});

it("tells that a plan cannot appear, and keeps the draft for another try (R262)", async () => {
  const { store, plans } = await openStore();
  await using draft = await store.draftPlan("plan");
  const place = join(plans, idKey("plan"));
  writeFileSync(place, "in the way");
  await expect(draft.publish()).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(draft.isPublished).toBe(false);
  expect(store.hasPlan("plan")).toBe(false);
  rmSync(place);
  expect(await draft.publish()).toBe(true);
  expect(store.hasPlan("plan")).toBe(true);
});

it("takes a plan back that may not survive a power failure (R262)", async () => {
  const user = ordinaryUser();
  const options = { uid: user.uid, env: user.env };
  const state = join(user.home, "state");
  const failed = await runChild(program, [state, "plan", "unreadable"], options);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    published: { code: "EACCES" },
    isPublished: false,
  });
  expect(readdirSync(join(state, "plans"))).toEqual([]);
  const repeated = await runChild(program, [state, "plan"], options);
  expect(JSON.parse(repeated.stdout)).toEqual({ published: true, isPublished: true });
  expect(readdirSync(join(state, "plans"))).toEqual([idKey("plan")]);
});

it("begins anew when somebody took the draft for one of a dead process (R262)", async () => {
  const points = await faultPoints(await drafting());
  const made = points.findLast(({ paths: [path] }) => path?.endsWith("/sandboxes") === true);
  const traced = await drafting();
  const stopped = await runUntil(traced, { at: made?.at ?? 0 });
  onTestFinished(() => stopped?.kill());
  const taken = readdirSync(traced.plans).filter((name) => name.startsWith(".new-"));
  expect(taken).toHaveLength(1);
  for (const name of taken) rmSync(join(traced.plans, name), { recursive: true });
  stopped?.goOn();
  const run = await stopped?.result;
  expect(JSON.parse(run?.stdout ?? "")).toEqual({ published: true, isPublished: true });
  const drafts = run?.points.flatMap(
    ({ paths: [path = ""] }) => /\.new-[0-9a-f]+/.exec(path) ?? [],
  );
  expect(new Set(drafts).size).toBe(2);
  expect(readdirSync(traced.plans)).toEqual([idKey("plan")]);
});
