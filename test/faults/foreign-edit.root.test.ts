import { expect, it } from "vitest";
import type { SandboxEvent } from "../../src/index.ts";
import { type TracedProgram, faultPoints, runWithFault } from "../support/faults.ts";
import type { Order } from "./order.ts";
import { type Place, makePlace, openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);
const NAMES = ["a", "b", "c", "d", "e", "f"];

interface Prepared {
  readonly place: Place;
  readonly traced: TracedProgram;
}

/** Six files, each rewritten but the last, which is removed; committed already for an undo. */
async function prepare(strategy: string, operation: "commit" | "rollback"): Promise<Prepared> {
  const place = makePlace("for name in a b c d e f; do echo old > $name.txt; done");
  await using coffer = await openPlace(place);
  const ref = await coffer.create("plan", place.real, { strategy });
  const sandbox = coffer.sandbox(ref);
  for (const name of NAMES) await sandbox.write(`${name}.txt`, "edited\n");
  await sandbox.remove("f.txt");
  if (operation === "rollback") await sandbox.commit();
  const order: Order = { state: place.state, operation, ref };
  return {
    place,
    traced: { program: PROGRAM, args: [JSON.stringify(order)], touching: [place.real] },
  };
}

/** The operation dies before its third exchange. */
async function dieHalfWay(strategy: string, operation: "commit" | "rollback"): Promise<Place> {
  const points = await faultPoints((await prepare(strategy, operation)).traced);
  const third = points.filter(({ call }) => call === "renameat2")[2];
  const { place, traced } = await prepare(strategy, operation);
  const run = await runWithFault(traced, { at: third?.at ?? 0 }, { signal: "KILL" });
  expect(run.fired).toBe(true);
  return place;
}

const SHOW = "for name in a b c d e f; do cat $name.txt 2>/dev/null || echo none; done";

for (const strategy of ["overlay", "copy_on_write"]) {
  it(`${strategy}: a recovered commit overwrites no edit made after the crash, and tells of it (R225)`, async () => {
    const place = await dieHalfWay(strategy, "commit");
    expect(shell(place.real, SHOW)).toBe("edited\nedited\nold\nold\nold\nold\n");
    // Of what was published and of what was not: replaced, written to, taken away.
    shell(place.real, "echo mine > n; mv n a.txt; echo mine > n; mv n c.txt");
    shell(place.real, "echo mine >> d.txt; rm e.txt; echo mine > n; mv n f.txt");
    await using coffer = await openPlace(place);
    expect(coffer.opening.recovery).toMatchObject({ transactions: [{ outcome: "committed" }] });
    expect(shell(place.real, SHOW)).toBe("mine\nedited\nmine\nold\nmine\nnone\nmine\n");
    const [done] = await coffer.history();
    const warnings = done?.members[0]?.result?.warnings ?? [];
    expect(warnings.map((warning) => warning.slice(0, 6)).toSorted()).toEqual([
      "a.txt ",
      "c.txt ",
      "d.txt ",
      "e.txt ",
      "f.txt ",
    ]);
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
    expect(shell(place.real, SHOW)).toBe("mine\nedited\nmine\nold\nmine\nnone\nmine\n");
  });

  it(`${strategy}: a recovered undo overwrites no edit made after the crash, and tells of it (R225)`, async () => {
    const place = await dieHalfWay(strategy, "rollback");
    const half = shell(place.real, SHOW);
    expect(half).toBe("edited\nedited\nedited\nedited\nold\nold\n");
    shell(place.real, "echo mine > n; mv n a.txt; echo mine >> b.txt; echo mine > n; mv n f.txt");
    const events: SandboxEvent[] = [];
    await using coffer = await openPlace(place, { onEvent: (event) => events.push(event) });
    expect(coffer.opening.recovery).toMatchObject({ transactions: [{ outcome: "committed" }] });
    expect(shell(place.real, SHOW)).toBe("mine\nedited\nmine\nold\nold\nold\nmine\n");
    const told = events.filter(({ name }) => name === "sandbox.editsShelved");
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told)).toMatch(/a\.txt .*b\.txt /);
    // What the edits stand in the way of is kept as well.
    const kept = shell(place.state, "find area -path '*/entries/*' -type f -exec cat {} +");
    expect(kept.match(/^old$/gm)?.length).toBeGreaterThanOrEqual(2);
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
  });
}
