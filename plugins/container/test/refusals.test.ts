import { PlatformUnsupportedError, SandboxCreationError } from "cofferdam";
import { afterAll, describe, expect, it } from "vitest";
import { Site } from "./site.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

describe("a sandbox is not made", () => {
  it.each(["no-such-engine", "/no/such/engine"])(
    "where there is no engine called %s",
    async (name) => {
      const site = new Site(engine);
      await using cofferdam = await site.open({ engine: name });
      const making = site.plan(cofferdam);
      await expect(making).rejects.toBeInstanceOf(PlatformUnsupportedError);
      await expect(making).rejects.toMatchObject({
        data: { what: "container engine" },
        hint: expect.stringContaining("podman") as string,
      });
    },
  );

  it.each([
    ["is not there", { image: "localhost/missing:1" }, "pull"],
    ["is not named", { image: null }, "image:"],
  ])("of an image that %s", async (_, options, hint) => {
    const site = new Site(engine);
    await using cofferdam = await site.open(options);
    const making = site.plan(cofferdam);
    await expect(making).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(making).rejects.toMatchObject({
      data: { stage: "image" },
      hint: expect.stringContaining(hint) as string,
    });
    expect(engine.left()).toEqual([]);
  });

  it.each([
    { image: "--privileged" },
    { keep: "two words" },
    { pull: "yes" },
    { environment: ["PATH"] },
    { environment: "HOME" },
    { user: "-v" },
  ])("with the options %j", async (options) => {
    const site = new Site(engine);
    await using cofferdam = await site.open(options);
    await expect(site.plan(cofferdam)).rejects.toMatchObject({ code: "STRATEGY_VALIDATION" });
  });
});

describe("a command is not started", () => {
  it("when its image has gone, and the sandbox is as before", async () => {
    const site = new Site(engine);
    engine.ask("tag", "localhost/small:1", "localhost/going:1");
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam, { image: "localhost/going:1" });
    await site.run(plan, "echo layer > /etc/layer");
    const [layer = ""] = engine.left().filter((name) => name.includes("cofferdam"));
    engine.ask("rmi", layer);
    await expect(site.run(plan, "echo new > page")).rejects.toBeInstanceOf(
      PlatformUnsupportedError,
    );
    expect((await plan.diff()).isEmpty).toBe(true);
    await plan.rollback();
    expect((await site.run(plan, "echo new > page")).exitCode).toBe(0);
    await plan.cleanup();
    engine.ask("rmi", "localhost/going:1");
    expect(engine.left()).toEqual([]);
  });
});
