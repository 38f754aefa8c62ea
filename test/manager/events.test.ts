import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it, onTestFinished } from "vitest";
import { EVENT_CHANNEL } from "../../src/index.ts";
import { edit, openSite, sandboxOf } from "./site.ts";

it("tells what happened, noun first and in the past, with plain data", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  await sandbox.checkpoint("c");
  await sandbox.restoreCheckpoint("c");
  await sandbox.commit();
  await sandbox.undoCommit();
  await sandbox.commit();
  await sandbox.rollback();
  await sandbox.cleanup();
  expect(site.events.map(({ name }) => name)).toEqual([
    "sandbox.created",
    "sandbox.checkpointed",
    "sandbox.restored",
    "sandbox.committed",
    "sandbox.undone",
    "sandbox.committed",
    "sandbox.rolledBack",
    "sandbox.cleanedUp",
  ]);
  for (const event of site.events) {
    expect(event).toMatchObject({
      level: "info",
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      data: { planId: "plan", sandboxId: sandbox.ref.sandboxId },
    });
    expect(JSON.parse(JSON.stringify(event))).toEqual(event);
  }
});

it("also tells everybody who listens on the channel", async () => {
  const heard: unknown[] = [];
  const listen = (message: unknown): void => void heard.push(message);
  subscribe(EVENT_CHANNEL, listen);
  onTestFinished(() => void unsubscribe(EVENT_CHANNEL, listen));
  const site = await openSite();
  await (await sandboxOf(site, "probe")).cleanup();
  expect(heard).toEqual(site.events);
  expect(site.events).toHaveLength(2);
});

it("goes on when a listener throws", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const site = await openSite({
    onEvent: () => {
      throw new Error("deaf");
    },
  });
  const sandbox = await sandboxOf(site, "probe");
  await edit(sandbox);
  await sandbox.commit();
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.filter(({ name }) => name === "CofferdamWarning")).toHaveLength(2);
});

it("marks what went wrong as a warning and names the code", async () => {
  const site = await openSite();
  const [first, second] = [
    await sandboxOf(site, "two-phase", "first"),
    await sandboxOf(site, "two-phase", "second"),
  ];
  for (const sandbox of [first, second]) await sandbox.write("a", "new\n");
  await first.commit();
  await expect(second.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
  expect(site.events.filter(({ level }) => level === "warning")).toMatchObject([
    {
      name: "sandbox.commitFailed",
      data: { code: "SANDBOX_CONFLICT", status: "ACTIVE", sandboxId: second.ref.sandboxId },
    },
  ]);
});
