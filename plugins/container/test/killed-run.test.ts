import { afterAll, expect, it } from "vitest";
import type { TracedProgram } from "../../../test/support/faults.ts";
import { samplePoints } from "../../../test/support/sample-points.ts";
import { sweep } from "../../../test/support/sweep.ts";
import { Site } from "./site.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

const MINUTES = 60_000;
/** Unless the run is a whole one. */
const POINTS = 5;
/** What may be seen of a command that writes to the directory first and to the system then. */
const POSSIBLE = ["first\nfirst\n", "second\nfirst\n", "second\nsecond\n"];
const setTo = (text: string): string => `echo ${text} > page; echo ${text} > /etc/tool`;

interface Prepared extends TracedProgram {
  readonly site: Site;
}

/** A plan with a system that was changed once, and a program that changes it again. */
async function prepare(): Promise<Prepared> {
  engine.clear();
  const site = new Site(engine);
  await using cofferdam = await site.open();
  await site.run(await site.plan(cofferdam), setTo("first"));
  return {
    site,
    program: new URL("programs/run-in-plan.ts", import.meta.url),
    args: [site.stateDirectory, engine.configuration(), site.root, setTo("second")],
    touching: [site.stateDirectory],
  };
}

it(
  "leaves a sandbox that goes on with all that was done, when it is killed at any call of a run",
  async () => {
    const tried = await sweep({
      prepare,
      fault: { signal: "KILL" },
      choose: samplePoints(POINTS),
      check: async ({ site }) => {
        await using cofferdam = await site.open();
        const plan = await site.plan(cofferdam);
        const { exitCode, stdout } = await site.run(plan, "cat page /etc/tool");
        expect(exitCode).toBe(0);
        expect(POSSIBLE).toContain(stdout);
        expect(site.page()).toBe("old\n");
        await plan.cleanup();
        expect(engine.left()).toEqual([]);
      },
    });
    expect(tried.length).toBeGreaterThan(3);
  },
  60 * MINUTES,
);
