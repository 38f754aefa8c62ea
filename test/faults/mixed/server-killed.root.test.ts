import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type FaultPoint, type StoppedRun, runWithFault } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { pointsOf, toldBy } from "../disturb.ts";
import { type Ground, openGround } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import type { Told } from "../order.ts";
import { outcomeOf, planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { nameAmong } from "../shapes/recovery.ts";
import type { Ending, Shape } from "../shape.ts";
import { tracedProgram } from "../traced-program.ts";
import { type Template, type TreeState, makeTemplate } from "../tree.ts";
import { whileStopped } from "./stopped.ts";
import { allOrOne, tryEach } from "./try-each.ts";
import type { WorldMember } from "./member.ts";
import { SERVERS, type Served, useMixed } from "./use-mixed.ts";

const HOURS = 3_600_000;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

const OPERATIONS = { commit: planCommitShape, undo: planUndoShape } as const;
/** The plans: whether SQLite is among their members, whose commit is the decision then. */
const WORLDS = { preparing: "all members prepare", world: "SQLite decides" } as const;
/** When a server is killed, and whether our process goes on without it or is killed as well. */
const WAYS = SERVERS.flatMap((name) =>
  (["commit", "undo"] as const).flatMap((of) =>
    (["before", "after"] as const).flatMap((when) =>
      (["goes on", "killed"] as const).map((process) => ({ name, of, when, process })),
    ),
  ),
);
type Way = (typeof WAYS)[number];
type Entries = (readonly [keyof typeof WORLDS, string])[];

/**
 * The call after which the operation stands: everything is prepared, or it is decided as well. A process of SQLite that
 * makes the call goes on until it is asked the next thing, which is to commit.
 */
function momentOf(points: readonly FaultPoint[], when: Way["when"]): FaultPoint {
  const named = nameAmong(points);
  const begun = points.find(({ paths }) => paths[0]?.endsWith("/decision.db") === true);
  const last = points.findLast(({ at }) => at < (named?.at ?? 0));
  const found = when === "after" ? named : (begun ?? last);
  assert.ok(found !== undefined);
  return found;
}

function isDecided({ state }: Ground): boolean {
  const running = readdirSync(join(state, "tx")).filter((name) => !name.startsWith("."));
  return running.some((name) => readdirSync(join(state, "tx", name)).includes("decision"));
}

/** With the server away nothing is claimed to be settled, and what can be settled is settled in the right direction. */
async function recoverWithout(
  others: readonly WorldMember[],
  ground: Ground,
  state: TreeState,
): Promise<void> {
  await using coffer = await openGround(ground);
  const { recovery } = coffer.opening;
  assert.equal(recovery?.complete, false);
  assert.equal(recovery.transactions.length, 1);
  assert.notEqual(recovery.transactions[0]?.outcome, "committed");
  const states = others.map(({ stateOf }) => stateOf(ground));
  assert.deepEqual([...new Set(states)], [state]);
  const { transactions } = await coffer.interrupted();
  assert.equal(transactions.length, 1);
}

/** A server that a plan is going to lose. */
interface Loss extends Served {
  readonly others: readonly WorldMember[];
  readonly isDecidedBySqlite: boolean;
}

function lossOf(name: Way["name"], world: keyof typeof WORLDS): Loss {
  const { members, served, databases } = mixed();
  const own = world === "world" ? members : members.filter((one) => one !== databases.SQLite);
  const others = own.filter((one) => one !== served[name].member);
  return { ...served[name], others, isDecidedBySqlite: world === "world" };
}

/** What SQLite has decided cannot be taken back any more; otherwise nobody can say how it ends. */
function expectOpen(told: Told, of: Way["of"], isDecidedBySqlite: boolean): void {
  if (of === "undo") assert.equal(told.outcome, "failed");
  else assert.equal(outcomeOf(told), isDecidedBySqlite ? "committed-pending" : "in-doubt");
}

async function killServer(
  { server, member, others, isDecidedBySqlite }: Loss,
  shape: Shape,
  { of, when, process }: Way,
  { ground, owner }: { readonly ground: Ground; readonly owner: StoppedRun },
): Promise<Ending | null> {
  const isThere =
    member.unsettled?.(ground).length === 1 && isDecided(ground) === (when === "after");
  if (!isThere) return null;
  const ending = when === "after" ? "new" : "old";
  await server.halt("killed");
  let told: Told | null = null;
  try {
    if (process === "goes on") {
      owner.goOn();
      told = toldBy(await owner.result);
      assert.ok(told !== null);
      expectOpen(told, of, isDecidedBySqlite);
    } else {
      owner.kill();
      await owner.result;
      const isEdited = (of === "commit") === (ending === "new");
      await recoverWithout(others, ground, isEdited ? "edited" : "old");
    }
  } finally {
    await server.resume();
  }
  const found = await judgeGround(shape.judge, { ground, told, ref: null, isBrief: false });
  if (told === null) assert.equal(found, ending);
  else if (isDecidedBySqlite) assert.equal(found, "new");
  return found;
}

for (const [world, decides] of allOrOne(Object.entries(WORLDS) as Entries)) {
  test(
    `a server that is killed around the decision, where ${decides}, leaves what recovery settles, and until then tells as open (R92, R223)`,
    async () => {
      const shapes = {
        commit: OPERATIONS.commit(template, mixed()[world]),
        undo: OPERATIONS.undo(template, mixed()[world]),
      };
      const name = `a server is killed around the decision, ${decides}`;
      await tryEach({ name, ways: WAYS, few: 1 }, (way) => {
        const shape = shapes[way.of];
        return whileStopped(
          shape,
          async () => momentOf(await pointsOf(shape), way.when),
          (ground, owner) => killServer(lossOf(way.name, world), shape, way, { ground, owner }),
        );
      });
    },
    HOURS,
  );
}

const isSyncOfDecision = ({ call, paths }: FaultPoint): boolean =>
  call === "fsync" && /\/state\/tx\/[^/]+$/.test(paths[0] ?? "");

/** Lets the sync of the decision fail: its name is there, but nobody can say that it is on disk. */
async function failToSyncDecision(shape: Shape, ground: Ground): Promise<Told | null> {
  const points = await pointsOf(shape);
  const decided = points.slice(points.indexOf(momentOf(points, "after")));
  const { at } = decided.find(isSyncOfDecision) ?? { at: 0 };
  const traced = tracedProgram(ground, await shape.arrange(ground));
  const run = await runWithFault(traced, { at }, { error: "EIO" });
  const met = run.points[at - 1];
  return run.fired && met !== undefined && isSyncOfDecision(met) ? toldBy(run) : null;
}

test(
  "a process that leaves a decided commit to recovery ends by itself, with its connections",
  async () => {
    const shape = planCommitShape(template, mixed().preparing);
    let ground = shape.makeGround();
    onTestFinished(() => removeFolder(ground.folder));
    let told = await failToSyncDecision(shape, ground);
    // The number of a call may differ by what the machine does besides.
    for (let attempt = 2; told === null && attempt <= 6; attempt++) {
      removeFolder(ground.folder);
      ground = shape.makeGround();
      told = await failToSyncDecision(shape, ground);
    }
    assert.ok(told !== null);
    expect(told.outcome).toBe("failed");
    expect(outcomeOf(told)).toBe("in-doubt");
    const scene = { ground, told, ref: null, isBrief: true };
    expect(await judgeGround(shape.judge, scene)).toBe("new");
  },
  HOURS,
);
