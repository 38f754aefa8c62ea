import { afterAll, describe, expect, it } from "vitest";
import { Site } from "./site.ts";
import { IMAGE, TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

const SHOW = "cat page /etc/tool 2>/dev/null";
const setTo = (text: string): string => `echo ${text} > page; echo ${text} > /etc/tool`;

describe("the system of a sandbox", () => {
  it("goes back with the directory to a checkpoint, and forward again", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await plan.checkpoint("nothing");
    await site.run(plan, setTo("first"));
    await plan.checkpoint("first");
    await site.run(plan, setTo("second"));
    await plan.checkpoint("second");
    await plan.restoreCheckpoint("first");
    expect((await site.run(plan, SHOW)).stdout).toBe("first\nfirst\n");
    await plan.restoreCheckpoint("nothing");
    expect((await site.run(plan, SHOW)).stdout).toBe("old\n");
    await plan.restoreCheckpoint("second");
    expect((await site.run(plan, SHOW)).stdout).toBe("second\nsecond\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("is forgotten by a rollback, with all its layers", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await site.run(plan, setTo("new"));
    await site.run(plan, setTo("newer"));
    expect(engine.left()).toHaveLength(1);
    await plan.rollback();
    expect(engine.left()).toEqual([]);
    expect((await site.run(plan, SHOW)).stdout).toBe("old\n");
    await plan.cleanup();
  });

  it("goes with a fork, which needs the first plan no more", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await site.run(plan, setTo("kept"));
    await plan.checkpoint("kept");
    await site.run(plan, setTo("later"));
    const fork = await plan.fork("fork", { from: "kept" });
    await plan.cleanup();
    expect((await site.run(fork, SHOW)).stdout).toBe("kept\nkept\n");
    await site.run(fork, setTo("own"));
    expect((await site.run(fork, SHOW)).stdout).toBe("own\nown\n");
    await fork.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("is never published, and goes with the plan", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await site.run(plan, "echo tool > /etc/tool");
    expect((await plan.commit()).results).toMatchObject({ site: { noop: true } });
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });
});

describe("a system that is kept as an image", () => {
  const KEPT = "localhost/kept:1";

  it("gets its name with the commit, and gives it back with the undo", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open({ keep: KEPT });
    const plan = await site.plan(cofferdam);
    await site.run(plan, setTo("new"));
    const { results } = await plan.commit();
    expect(results).toMatchObject({ site: { changed: ["page"], metadata: { image: KEPT } } });
    expect(engine.fileIn(KEPT, "/etc/tool")).toBe("new");
    await plan.undo();
    expect(site.page()).toBe("old\n");
    expect(engine.left()).not.toContain(KEPT);
    expect((await site.run(plan, SHOW)).stdout).toBe("new\nnew\n");
    await plan.commit();
    await plan.cleanup();
    expect(engine.left()).toEqual([KEPT]);
    expect(engine.fileIn(KEPT, "/etc/tool")).toBe("new");
    engine.ask("rmi", KEPT);
  });

  it("takes the name from another image and gives it back, also when no file was edited", async () => {
    const site = new Site(engine);
    engine.ask("tag", IMAGE, KEPT);
    const before = engine.ask("image", "inspect", "--format", "{{.Id}}", KEPT);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam, { keep: KEPT });
    await site.run(plan, "echo new > /etc/tool");
    expect((await plan.commit()).results).toMatchObject({ site: { noop: false, changed: [] } });
    expect(engine.fileIn(KEPT, "/etc/tool")).toBe("new");
    await plan.undo();
    expect(engine.ask("image", "inspect", "--format", "{{.Id}}", KEPT)).toBe(before);
    await plan.commit();
    await plan.rollback();
    expect(engine.ask("image", "inspect", "--format", "{{.Id}}", KEPT)).toBe(before);
    await plan.cleanup();
    expect(engine.left()).toEqual([KEPT]);
    engine.ask("rmi", KEPT);
  });

  it("is not taken back over an image that somebody else gave the name to", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open({ keep: KEPT });
    const plan = await site.plan(cofferdam);
    await site.run(plan, setTo("new"));
    await plan.commit();
    engine.ask("tag", IMAGE, KEPT);
    await expect(plan.undo()).rejects.toMatchObject({ data: { reason: "foreignEdits" } });
    expect(site.page()).toBe("new\n");
    engine.ask("rmi", KEPT);
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("is not taken back when the image before has gone", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open({ keep: KEPT });
    const plan = await site.plan(cofferdam);
    await site.run(plan, setTo("first"));
    await plan.commit();
    await plan.cleanup();
    const next = await site.plan(cofferdam);
    await site.run(next, setTo("second"));
    await next.commit();
    for (const name of engine.left().filter((one) => one.endsWith(":before")))
      engine.ask("rmi", name);
    await expect(next.undo()).rejects.toMatchObject({ data: { reason: "undoDataMissing" } });
    expect(site.page()).toBe("second\n");
    engine.ask("rmi", KEPT);
    await next.cleanup();
    expect(engine.left()).toEqual([]);
  });
});
