import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startChild } from "../../../support/child.ts";
import type { FaultPoint, TracedProgram } from "../../../support/faults.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { samplePoints } from "../../../support/sample-points.ts";
import { sweep } from "../../../support/sweep.ts";
import { type Files, makeFiles } from "./ground.ts";

const MINUTES = 60_000;
const JOBS =
  "CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO jobs VALUES (1, 'old')";
// In one transaction, because it may be killed between any two calls of its own.
const EDIT =
  "BEGIN; UPDATE jobs SET name = 'new' WHERE id = 1; INSERT INTO jobs VALUES (2, 'more'); COMMIT";
const ALL = "SELECT id || '|' || name FROM jobs ORDER BY id";
const [OLD, NEW] = [["1|old"], ["1|new", "2|more"]];
const program = new URL("./programs/run-command.ts", import.meta.url);

interface Interrupted extends TracedProgram {
  readonly files: Files;
}

async function openPlan(): Promise<Files> {
  const files = makeFiles({ shop: JOBS });
  await using cofferdam = await files.open();
  const plan = await cofferdam.plan("plan", [{ id: "shop", type: "database", location: "shop" }]);
  await plan.keep();
  return files;
}

/** A plan whose command was killed together with everything around it, after it had committed its rows. */
async function leaveCopy(): Promise<Files> {
  const files = await openPlan();
  const script = `sqlite3 shop.db "${EDIT}"; echo done; sleep 3600`;
  const child = await startChild(program, argsOf(files, ["sh", "-c", script]));
  await once(child.process.stdout, "data");
  child.process.kill("SIGKILL");
  await child.result;
  return files;
}

function argsOf({ stateDirectory, config, folder }: Files, argv: readonly string[]): string[] {
  return [stateDirectory, config, folder, ...argv];
}

/** What a plan holds for the next one who comes; it can be committed. */
async function settled({ files }: Interrupted, { call, paths }: FaultPoint): Promise<string> {
  const at = `killed before ${call} of ${paths.join(" ")}`;
  expect(files.sql("shop", ALL), at).toEqual(OLD);
  await using cofferdam = await files.open();
  const plan = await cofferdam.plan("plan");
  const changes = (await plan.diff()).resources["shop"]?.changes.map(({ path }) => path);
  const rows = files.sql("shop", ALL);
  expect(rows, at).toEqual(OLD);
  const [sandbox = ""] = readdirSync(join(files.stateDirectory, "databases"));
  const left = readdirSync(join(files.stateDirectory, "databases", sandbox));
  expect(left, at).not.toContain("lent");
  await plan.commit();
  expect(files.sql("shop", ALL), at).toEqual(changes?.length === 0 ? OLD : NEW);
  await plan.cleanup();
  removeFolder(files.folder);
  return String(changes);
}

it(
  "rows that a command left are taken exactly once, wherever the one is killed who takes them",
  async () => {
    const endings = new Set<string>();
    await sweep<Interrupted>({
      prepare: async () => {
        const files = await leaveCopy();
        return { files, program, args: argsOf(files, []), touching: [files.folder] };
      },
      fault: { signal: "KILL" },
      choose: samplePoints(8),
      check: async (interrupted, _run, point) => {
        endings.add(await settled(interrupted, point));
      },
    });
    expect([...endings]).toEqual(["main.jobs/1,main.jobs/2"]);
  },
  30 * MINUTES,
);

it(
  "a run that is killed anywhere leaves the real database alone, and the plan with all rows or none",
  async () => {
    const endings = new Set<string>();
    await sweep<Interrupted>({
      prepare: async () => {
        const files = await openPlan();
        const args = argsOf(files, ["sqlite3", "shop.db", EDIT]);
        // The view of a command has a part for each mount of the machine, of which other tests make some.
        const sparing = [join(files.stateDirectory, "runs")];
        return { files, program, args, touching: [files.folder], sparing };
      },
      fault: { signal: "KILL" },
      choose: samplePoints(10),
      check: async (interrupted, _run, point) => {
        endings.add(await settled(interrupted, point));
      },
    });
    for (const ending of endings) expect(["", "main.jobs/1,main.jobs/2"]).toContain(ending);
  },
  30 * MINUTES,
);
