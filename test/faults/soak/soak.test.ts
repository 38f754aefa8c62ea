import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { type Cofferdam, openCofferdam } from "../../../src/index.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { tempFolder } from "../../support/temp.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { filesIn } from "../files-in.ts";
import { createRandom, faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import { operateAndKill } from "./killed-operation.ts";
import { type RandomResource, editAtRandom, makeResources, planOf } from "./random-plan.ts";

const HOURS = 3_600_000;
const WHOLE = { plans: 200, milliseconds: 600_000 };
const SAMPLE = { plans: 5, milliseconds: 0 };
const CYCLES = 3;

test(
  "no plan of any shape is ever half done, however often processes die, and nothing piles up (R219, R220)",
  async () => {
    const settings = faultSettings();
    const { plans, milliseconds } = settings.all ? WHOLE : SAMPLE;
    const began = Date.now();
    const random = createRandom(settings.seed);
    const folder = tempFolder();
    await using second = mountFileSystem("tmpfs");
    const devices = [join(folder, "real"), second.mountPoint];
    mkdirSync(join(folder, "real"));
    const soak = new Soak(folder, devices, random);
    // The first plans make what stays as long as the installation does.
    for (const [at, device] of devices.entries()) await soak.livePlan(`first-${at}`, [device]);
    const before = soak.everythingKept();
    let count = 0;
    for (; count < plans || Date.now() - began < milliseconds; count++) {
      await soak.livePlan(`plan-${count}`);
    }
    const piled = soak.everythingKept().filter((line) => !before.includes(line));
    if (piled.length > 0)
      soak.violations.push(`something piles up: ${piled.slice(0, 9).join("\n")}`);
    const { killed, ended, old, new: changed, violations } = soak;
    settleTally(
      {
        suite: "soak",
        shape: "plans of random shape",
        faults: "processes killed at random",
        seed: settings.seed,
        enumerated: Math.max(WHOLE.plans, count),
        tried: count,
        fired: count,
        old,
        new: changed,
        violations,
        seconds: Math.round((Date.now() - began) / 1000),
        remarks: [`${killed} processes killed, ${ended} came to their end`],
      },
      settings,
    );
  },
  2 * HOURS,
);

/** Plans that come and go in one installation. */
class Soak {
  killed = 0;
  ended = 0;
  old = 0;
  new = 0;
  readonly violations: string[] = [];
  readonly #folder: string;
  readonly #devices: readonly string[];
  readonly #random: () => number;

  constructor(folder: string, devices: readonly string[], random: () => number) {
    this.#folder = folder;
    this.#devices = devices;
    this.#random = random;
  }

  /** One plan from its beginning to its end; what goes wrong is noted. */
  async livePlan(planId: string, devices = this.#devices): Promise<void> {
    const resources = makeResources(planId, devices, this.#random);
    try {
      await this.#live(planId, resources);
    } catch (error) {
      this.violations.push(`${planId}: ${error instanceof Error ? error.stack : String(error)}`);
    } finally {
      for (const { location } of resources) removeFolder(location);
    }
  }

  /** Everything that is there without any plan, but for the history, which has one small record for each transaction. */
  everythingKept(): string[] {
    const args = [...this.#devices, this.#folder, "-printf", "%p %y %s\\n"];
    const listed = execFileSync("find", args, { encoding: "utf8" }).split("\n");
    return listed
      .filter((line) => !/\/state\/done\/\w+\.json f \d+$| d \d+$/.test(line))
      .toSorted();
  }

  async #live(planId: string, made: readonly RandomResource[]): Promise<void> {
    let resources = made;
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      {
        await using coffer = await this.#open();
        const plan = await planOf(coffer, planId, resources);
        const { sandboxes } = await plan.describe();
        // A rollback of edits that was killed may have come to some of the sandboxes only.
        if (sandboxes.some(({ status }) => status === "COMMITTED")) await plan.cleanup();
        else assert.deepEqual((await plan.rollback()).failed, {});
        const fresh = await planOf(coffer, planId, resources);
        resources = await editAtRandom(fresh, resources, this.#random);
      }
      const isNew = await this.#disturb(planId, resources, "plan.commit");
      if (isNew && this.#random() < 0.5) await this.#disturb(planId, resources, "plan.undo");
      if (this.#isPublished(resources)) {
        resources = resources.map((resource) => ({ ...resource, old: resource.new }));
      } else await this.#disturb(planId, resources, "plan.rollback");
    }
    await operateAndKill(this.#folder, { operation: "plan.cleanup", planId }, this.#random);
    await using coffer = await this.#open();
    if ((await coffer.list(planId)).length > 0) {
      assert.deepEqual((await (await coffer.plan(planId)).cleanup()).failed, {});
    }
  }

  /** Does something that may be killed, recovers, which may be killed too, and looks: gives whether all is new. */
  async #disturb(
    planId: string,
    resources: readonly RandomResource[],
    operation: "plan.commit" | "plan.undo" | "plan.rollback",
  ): Promise<boolean> {
    const told = await operateAndKill(this.#folder, { operation, planId }, this.#random);
    if (told === null) {
      this.killed += 1;
      await operateAndKill(this.#folder, { operation: "open" }, this.#random);
    } else this.ended += 1;
    await using coffer = await this.#open();
    const isNew = this.#isPublished(resources);
    const isWanted = operation === "plan.commit";
    if (told?.outcome === "done") assert.equal(isNew, isWanted, `${operation} is not done`);
    this[isNew ? "new" : "old"] += 1;
    return isNew && (await coffer.list(planId)).length > 0;
  }

  async #open(): Promise<Cofferdam> {
    const coffer = await openCofferdam({
      stateDirectory: join(this.#folder, "state"),
      config: false,
    });
    assert.notEqual(coffer.opening.recovery?.complete, false);
    return coffer;
  }

  /** Whether every resource is new; throws when that is neither true of all nor of none. */
  #isPublished(resources: readonly RandomResource[]): boolean {
    const states = resources.map(({ location, old, new: wanted }) => {
      const found = filesIn(location);
      const isOld = isSame(found, old);
      const isNew = isSame(found, wanted);
      assert.ok(isOld || isNew, `${location} is a mixture: ${Object.keys(found).join(" ")}`);
      return isOld && isNew ? null : isNew;
    });
    const different = new Set(states.filter((state) => state !== null));
    assert.ok(different.size < 2, `some are new and some are old: ${states.join(" ")}`);
    return different.has(true);
  }
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const sorted = (files: Readonly<Record<string, string>>): string =>
    JSON.stringify(Object.entries(files).toSorted(([one], [two]) => (one < two ? -1 : 1)));
  return sorted(a) === sorted(b);
}
