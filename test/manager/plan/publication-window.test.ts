import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { EVENT_CHANNEL, type SandboxEvent } from "../../../src/index.ts";
import { openPlanSite } from "./plan-site.ts";

const FILES = Array.from({ length: 120 }, (_, number) => `file-${number}`);
const [OLD, NEW] = ["old ".repeat(2000), "new ".repeat(2000)];

it("shows nothing of a plan before its decision, and never a part of a file (R152)", async () => {
  const site = await openPlanSite({ layers: "overlay", copy: "copy_on_write" });
  const ids = ["layers", "copy"];
  const write = async (text: string): Promise<void> => {
    for (const id of ids) {
      for (const name of FILES) await site.sandbox(id).write(name, text);
    }
  };
  await write(OLD);
  await site.plan.commit();
  await site.plan.cleanup({ force: true });

  const plan = await site.site.coffer.plan(
    "second",
    ids.map((id) => ({ id, type: "fs-directory", location: site.real(id) })),
  );
  for (const id of ids) for (const name of FILES) await plan.sandbox(id).write(name, NEW);
  const read = (): Set<string> =>
    new Set(
      ids.flatMap((id) => FILES.map((name) => readFileSync(join(site.real(id), name), "utf8"))),
    );
  const seen: Record<string, string[]> = {};
  const listen = (message: unknown): void => {
    seen[(message as SandboxEvent).name] = [...read()];
  };
  subscribe(EVENT_CHANNEL, listen);
  onTestFinished(() => void unsubscribe(EVENT_CHANNEL, listen));
  const progress = { isFinished: false };
  const committed = plan.commit().finally(() => {
    progress.isFinished = true;
  });
  while (!progress.isFinished) {
    for (const text of read()) expect([OLD, NEW]).toContain(text);
    await setImmediate();
  }
  await committed;
  expect(seen).toMatchObject({
    "plan.prepared": [OLD],
    "plan.decided": [OLD],
    "plan.committed": [NEW],
  });
  await plan.cleanup();
});
