import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FaultPoint, TracedProgram } from "../../../support/faults.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { samplePoints } from "../../../support/sample-points.ts";
import { sweep } from "../../../support/sweep.ts";
import { NEW, OLD, type Trio, makeFiles, makeTrio } from "./ground.ts";

const MINUTES = 60_000;
/** Of each part of an operation, unless the run is a whole one. */
const POINTS = 5;
const program = new URL("../programs/commit-plan.ts", import.meta.url);

interface Interrupted extends TracedProgram {
  readonly trio: Trio;
}

async function interrupt(call: "commit" | "undo", modes: string[]): Promise<Interrupted> {
  const trio = makeTrio({ modes });
  {
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    if (modes[0] === "WAL") await plan.sandbox("store").rollback();
    if (call === "undo") await plan.commit();
  }
  const args = [trio.stateDirectory, trio.config, call, ""];
  return { trio, program, args, touching: [trio.folder] };
}

/** Points of both kinds: those of SQLite, and those of everything else. */
function chosen(points: readonly FaultPoint[]): readonly FaultPoint[] {
  const isDatabase = ({ paths }: FaultPoint): boolean => paths.some((path) => path.includes(".db"));
  const take = samplePoints(POINTS);
  const databases = take(points.filter(isDatabase));
  return [...databases, ...take(points.filter((point) => !isDatabase(point)))];
}

/** What is there after somebody else has opened the state directory. */
async function settled({ trio }: Interrupted, { call, paths }: FaultPoint): Promise<string> {
  await using cofferdam = await trio.open();
  expect(cofferdam.opening.recovery ?? { complete: true }).toMatchObject({ complete: true });
  const files = [trio.folder, trio.stateDirectory].flatMap((folder) => readdirSync(folder));
  const left = files.filter((name) => /-(?:journal|mj)/.test(name));
  expect(left, `killed before ${call} of ${paths.join(" ")}`).toEqual([]);
  expect(readdirSync(join(trio.stateDirectory, "tx"))).toEqual([]);
  expect((await cofferdam.list()).map(({ status }) => status)).not.toContain("ERRORED");
  const state = trio.state();
  // It can go on as if nothing had happened, in the direction that is open.
  const plan = await cofferdam.plan("plan");
  const isNew = state.file === NEW.file;
  await (isNew ? plan.undo() : plan.commit());
  expect(trio.state().file).toBe(isNew ? OLD.file : NEW.file);
  return JSON.stringify(state);
}

test.each([
  ["commit", "two databases", ["", ""], JSON.stringify(NEW)],
  ["undo", "two databases", ["", ""], JSON.stringify(NEW)],
  ["commit", "one in WAL mode", ["WAL", ""], JSON.stringify({ ...NEW, rows: ["1|new", "1|old"] })],
  ["undo", "one in WAL mode", ["WAL", ""], JSON.stringify({ ...NEW, rows: ["1|new", "1|old"] })],
] as const)(
  "a %s of a directory with %s that is killed at any call is whole after recovery (R92)",
  async (call, _what, modes, expected) => {
    const endings = new Set<string>();
    await sweep({
      prepare: () => interrupt(call, [...modes]),
      fault: { signal: "KILL" },
      choose: chosen,
      check: async (interrupted, _run, point) => {
        endings.add(await settled(interrupted, point));
        removeFolder(interrupted.trio.folder);
      },
    });
    expect([...endings].toSorted()).toEqual([JSON.stringify(OLD), expected].toSorted());
  },
  120 * MINUTES,
);

const JOBS =
  "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO jobs VALUES (1, 'old')";

test.each([
  ["commit", "DELETE"],
  ["undo", "DELETE"],
  ["commit", "WAL"],
  ["undo", "WAL"],
] as const)(
  "a %s of one database alone, in the mode %s, that is killed at any call is told by recovery",
  async (call, mode) => {
    const endings = new Set<string>();
    const alone = new URL("programs/commit-alone.ts", import.meta.url);
    await sweep({
      prepare: async () => {
        const setup = `PRAGMA journal_mode = ${mode};; ${JOBS}`;
        const files = makeFiles({ shop: setup });
        await using cofferdam = await files.open();
        const sandbox = await files.sandbox(cofferdam);
        await sandbox.write("job", "UPDATE jobs SET state = 'new'");
        if (call === "undo") await sandbox.commit();
        const args = [files.stateDirectory, files.config, call];
        return { files, program: alone, args, touching: [files.folder] };
      },
      fault: { signal: "KILL" },
      choose: samplePoints(POINTS),
      check: async ({ files }) => {
        {
          await using cofferdam = await files.open();
          const [found] = await cofferdam.list();
          const rows = files.sql("shop", "SELECT state FROM jobs");
          expect(rows).toEqual([found?.status === "COMMITTED" ? "new" : "old"]);
          expect(found?.status).toMatch(/^(?:COMMITTED|ACTIVE)$/);
          endings.add(rows.join());
        }
        const tables = files.sql("shop", "SELECT name FROM sqlite_schema");
        expect(tables).toEqual(["jobs"]);
        removeFolder(files.folder);
      },
    });
    expect([...endings].toSorted()).toEqual(["new", "old"]);
  },
  60 * MINUTES,
);
