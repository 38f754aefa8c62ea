import { afterEach, describe, expect, it } from "vitest";
import { DEATHS, killChangedPlan, mixed } from "./mixed-plan.ts";
import { SERVERS, runServer } from "./servers.ts";

describe.each(SERVERS)("a plan that is cleaned up by force while $name is away", (kind) => {
  const on = runServer(kind);
  // Also where a test ended before it did so itself.
  afterEach(async () => {
    await on.server.halt();
    await on.server.resume();
  });

  it.each(DEATHS)(
    "in the middle of its %s, at %s, is still settled when the server is back (R97, R223)",
    async (call, event, expected) => {
      const all = mixed(on.server, on.proxy.port);
      const { ground } = all;
      await killChangedPlan(all, call, event);
      await on.server.halt("immediate");
      {
        await using cofferdam = await ground.open();
        const plan = await cofferdam.plan("plan");
        const { succeeded, failed } = await plan.cleanup({ force: true });
        expect([succeeded, Object.keys(failed)]).toEqual([["site"], ["shop"]]);
        expect((await cofferdam.interrupted()).transactions).toHaveLength(1);
        expect((await cofferdam.recover()).complete).toBe(false);
      }
      await on.server.resume();
      expect(ground.prepared()).toHaveLength(1);
      await using cofferdam = await ground.open();
      expect(cofferdam.opening.recovery?.complete).toBe(true);
      expect(ground.prepared()).toEqual([]);
      expect(all.state()).toEqual(expected);
      expect(await cofferdam.interrupted()).toMatchObject({ transactions: [], sandboxes: [] });
      const { failed } = await (await cofferdam.plan("plan")).cleanup({ force: true });
      expect(failed).toEqual({});
      expect(all.state()).toEqual(expected);
    },
  );
});
