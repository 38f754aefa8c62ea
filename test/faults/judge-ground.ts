import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Cofferdam } from "../../src/index.ts";
import { mountsBelow } from "../support/leftovers.ts";
import { type Ground, OTHER_DEVICE, openGround } from "./ground.ts";
import type { Ending, Scene, Shape } from "./shape.ts";

/** Opens what a disturbed run left, which recovers it, and finds out how it ended; throws when anything is wrong. */
export async function judgeGround(
  judge: Shape["judge"],
  scene: Omit<Scene, "coffer">,
): Promise<Ending> {
  const { ground } = scene;
  await using coffer = await openGround(ground);
  const { recovery } = coffer.opening;
  if (recovery?.complete === false) throw new Error(`not recovered: ${JSON.stringify(recovery)}`);
  await expectSettled(ground, coffer);
  assert.deepEqual(ground.elsewhere?.unsettled() ?? [], []);
  const ending = await judge({ ...scene, coffer });
  for (const { ref: left } of await coffer.list()) await coffer.sandbox(left).cleanup();
  const own = [ground.folder, join(ground.folder, OTHER_DEVICE)];
  const mounts = mountsBelow(ground.folder).filter((point) => !own.includes(point));
  const elsewhere = ground.elsewhere?.leftovers() ?? [];
  const leftovers = [...leftOn(ground), ...mounts, ...elsewhere];
  if (leftovers.length > 0) throw new Error(`left behind: ${leftovers.join(", ")}`);
  return ending;
}

const NOTHING_RECOVERED = { transactions: [], sandboxes: [], complete: true };

/** A second recovery finds nothing to do and changes nothing. */
async function expectSettled(ground: Ground, coffer: Cofferdam): Promise<void> {
  const before = everythingOf(ground);
  const { transactions, sandboxes, complete } = await coffer.recover();
  assert.deepEqual({ transactions, sandboxes, complete }, NOTHING_RECOVERED);
  assert.equal(everythingOf(ground), before);
}

function everythingOf({ folder, elsewhere }: Ground): string {
  return `${everythingBelow(folder)}\n${elsewhere?.look() ?? ""}`;
}

/** Everything in a folder with all that a change would change. */
export function everythingBelow(folder: string): string {
  const format = "%P %y %i %m %U:%G %s %T@ %l\\n";
  return execFileSync("find", [folder, "-printf", format], { encoding: "latin1" });
}

/** What a ground without any sandbox consists of, the tree itself left out. */
const PERMANENT = [
  /^(begun|state|other-device|(other-device\/)?\.cofferdam-\d+)?$/,
  /^state\/(install\.json|areas\.(json|lock)|plans|runs|tx|owners|buckets|databases|decision\.db|done|done\/\w+\.json|area)$/,
  /^(state\/area|(other-device\/)?\.cofferdam-\d+)\/sandboxes$/,
  /^ledger(\/rows\.json)?$|^settings(\/app\.conf)?$/,
  /^(container|overlay|(other-device\/)?repository|sqlite|sqlite\/rows\.db|cofferdam\.yaml)$/,
];

function leftOn({ folder }: Ground): string[] {
  const args = [folder, "-path", "*/real", "-prune", "-o", "-printf", "%P\\0"];
  const listed = execFileSync("find", args, { encoding: "utf8" }).split("\0");
  return listed
    .filter((path) => !PERMANENT.some((allowed) => allowed.test(path)))
    .filter((path) => !path.startsWith("state/owners/") || isFree(join(folder, path)));
}

/** Whether nobody holds a lock: then the file of an owner belongs to one that is dead, or has not got it yet. */
export function isFree(file: string): boolean {
  return spawnSync("flock", ["--nonblock", file, "true"]).status === 0;
}
