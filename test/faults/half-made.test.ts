import { expect, it } from "vitest";
import { faultPoints, runWithFault } from "../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import type { Order } from "./order.ts";
import { makePlace, openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);

it.each(["filesystem_copy", "overlay"])(
  "removes a half-made sandbox of a killed process at the next opening, and makes it anew: %s (R4)",
  async (strategy) => {
    const place = makePlace("printf one > a; mkdir d; printf two > d/b");
    const before = takeOracle(place.real);
    const resource = { resourceId: "r", type: "fs-directory", location: place.real };
    {
      // The first sandbox of all makes more than its own.
      await using coffer = await openPlace(place);
      await coffer.create("first", resource, { strategy });
    }
    const order: Order = {
      state: place.state,
      operation: "create",
      planId: "plan",
      resource,
      strategy,
    };
    const traced = { program: PROGRAM, args: [JSON.stringify(order)], touching: [place.folder] };
    const other = { ...order, planId: "next" };
    const points = await faultPoints({ ...traced, args: [JSON.stringify(other)] });
    // Somewhere between the first folder of the sandbox and its record.
    const middle = points.findLast(({ paths }) => paths.some((path) => path.includes("/area/")));
    const run = await runWithFault(traced, { at: middle?.at ?? 0 }, { signal: "KILL" });
    expect([run.fired, run.signal]).toEqual([true, "SIGKILL"]);
    const events: string[] = [];
    await using coffer = await openPlace(place, { onEvent: ({ name }) => void events.push(name) });
    expect(events).toContain("creation.discarded");
    const plans = (await coffer.list()).map(({ ref }) => ref.planId);
    expect(plans.toSorted()).toEqual(["first", "next"]);
    expect(shell(place.state, "ls -d area/*/* | wc -l; find plans -name '.making-*'")).toBe("2\n");
    const ref = await coffer.create("plan", resource, { strategy });
    await coffer.sandbox(ref).write("a", "edited");
    expectOracleEqual(before, takeOracle(place.real));
    for (const one of await coffer.list()) await coffer.sandbox(one.ref).cleanup();
  },
);
