import { expect, it } from "vitest";
import type { SandboxRef } from "../../src/index.ts";
import { type ChildResult, runChild } from "../support/child.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { sampleOf } from "../support/sample-points.ts";
import { type Committed, committed } from "./committed.ts";
import { makePlace, openPlace, shell } from "./place.ts";
import type { InterruptibleAnswer, InterruptibleOrder } from "./programs/interruptible.ts";

const PROGRAM = new URL("./programs/interruptible.ts", import.meta.url);
const MINUTES = 60_000;
const TREE = "for name in a b c d e; do echo old > $name; done; mkdir gone; echo old > gone/file";
const EDIT = "for name in a b c d; do echo edited > $name; done; rm -r e gone; echo new > new";

/** Sends the program a signal at the n-th of these calls of a thread. */
async function interrupt(
  { place, ref }: Pick<Committed, "place" | "ref">,
  operation: InterruptibleOrder["operation"],
  [call, signal, at]: readonly [call: string, signal: string, at: number],
): Promise<ChildResult> {
  const order: InterruptibleOrder = { state: place.state, ref, operation };
  const inject = `inject=${call}:signal=${signal}:when=${at}`;
  const wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
  return runChild(PROGRAM, [JSON.stringify(order)], { wrapper });
}

const STRATEGIES = ["overlay", "copy_on_write"];

it.each(STRATEGIES)(
  "%s: an undo with a signal between any two renames is finished, and the signal passed on (R179)",
  async (strategy) => {
    for (const at of sampleOf(4, [1, 2, 3, 4, 5, 6, 7], STRATEGIES.indexOf(strategy))) {
      const site = await committed(strategy, TREE, EDIT);
      const ended = await interrupt(site, "undoCommit", ["renameat2", "TERM", at]);
      expect(ended).toMatchObject({ signal: "SIGTERM", stderr: "" });
      expectOracleEqual(site.old, takeOracle(site.place.real));
      await using coffer = await openPlace(site.place, { recover: "report" });
      expect(coffer.opening.interrupted).toMatchObject({ transactions: [], sandboxes: [] });
      expect(await coffer.status(site.ref)).toBe("ACTIVE");
      await coffer.sandbox(site.ref).cleanup();
    }
  },
  2 * MINUTES,
);

it.each(STRATEGIES)(
  "%s: an undo whose caller gives up is finished, or the caller hears its own reason (R179)",
  async (strategy) => {
    const endings = new Set<string>();
    // The first one of mkdir is that of the opening.
    for (const moment of [
      ["mkdir", "USR2", 2],
      ["link", "USR2", 1],
      ["renameat2", "USR2", 2],
      ["renameat2", "USR2", 4],
    ] as const) {
      const site = await committed(strategy, TREE, EDIT);
      const ended = await interrupt(site, "undoCommit", moment);
      await using coffer = await openPlace(site.place, { recover: "report" });
      const status = await coffer.status(site.ref);
      endings.add(status);
      const isDone = status === "ACTIVE";
      const answer: InterruptibleAnswer = isDone
        ? { code: null, aborted: true, isOwnReason: false }
        : { code: "SANDBOX_ROLLBACK", aborted: true, isOwnReason: true };
      expect(JSON.parse(ended.stdout)).toEqual(answer);
      expectOracleEqual(isDone ? site.old : site.published, takeOracle(site.place.real));
      await coffer.sandbox(site.ref).cleanup();
    }
    expect(endings).toEqual(new Set(["COMMITTED", "ACTIVE"]));
  },
  MINUTES,
);

it.each(["TERM", "USR2"])(
  "a restore that gets SIG%s while the workspace is built is finished (R179)",
  async (signal) => {
    for (const at of [2, 4, 6]) {
      const place = makePlace(`${TREE}; mkdir -p x/1 x/2 x/3 x/4 x/5`);
      const old = takeOracle(place.real);
      let ref: SandboxRef;
      {
        await using coffer = await openPlace(place);
        ref = await coffer.create("plan", place.real, { strategy: "copy_on_write" });
        await coffer.sandbox(ref).checkpoint("kept");
        shell(await coffer.sandbox(ref).getPath(), EDIT);
      }
      const ended = await interrupt({ place, ref }, "restoreCheckpoint", ["mkdirat", signal, at]);
      const told = '{"code":null,"aborted":true,"isOwnReason":false}';
      expect(ended).toMatchObject(
        signal === "TERM" ? { signal: "SIGTERM", stdout: "" } : { signal: null, stdout: told },
      );
      await using coffer = await openPlace(place, { recover: "report" });
      expect(await coffer.describe(ref)).toMatchObject({ status: "ACTIVE", interrupted: false });
      expectOracleEqual(old, takeOracle(await coffer.sandbox(ref).getPath()));
      await coffer.sandbox(ref).cleanup();
    }
  },
  MINUTES,
);
