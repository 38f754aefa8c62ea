import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { DatabaseProxy } from "../../../test/support/database-proxy.ts";
import { removeFolder } from "../../../test/support/remove-folder.ts";
import { sampleOf, samplePoints } from "../../../test/support/sample-points.ts";
import { sweep } from "../../../test/support/sweep.ts";
import { Ground, useServer } from "./ground.ts";

const MINUTES = 60_000;
const on = useServer();
let proxy: DatabaseProxy;
beforeAll(async () => {
  proxy = await DatabaseProxy.start(on.server);
});
afterAll(() => proxy[Symbol.asyncDispose]());

const JOBS = `CREATE TABLE jobs (id int PRIMARY KEY, name text);
  INSERT INTO jobs VALUES (1, 'old'), (2, 'two')`;
const EDIT = "UPDATE jobs SET name = 'new' WHERE id = 1; INSERT INTO jobs VALUES (3, 'more')";
const ALL = "SELECT * FROM jobs ORDER BY id";
const [OLD, NEW] = [
  ["1|old", "2|mine"],
  ["1|new", "2|mine", "3|more"],
];
const program = new URL("./programs/run-command.ts", import.meta.url);
const COMMAND = ["psql", "-Xqc", EDIT];

/** A plan with an edit, whose database is reached through the proxy. */
async function openPlan(): Promise<Ground> {
  const ground = new Ground(on.server, JOBS, proxy.port);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  await plan.sandbox("shop").write("mine.sql", "UPDATE jobs SET name = 'mine' WHERE id = 2");
  await plan.keep();
  return ground;
}

function argsOf({ stateDirectory, config, folder }: Ground, argv: readonly string[]): string[] {
  return [stateDirectory, config, folder, ...argv];
}

/** A run of the command in a plan that ends when that many messages were sent to the server. */
async function killAt(ground: Ground, point: Point, argv: readonly string[]): Promise<boolean> {
  const { message: passing, when } = point;
  const child = await startChild(program, argsOf(ground, argv));
  const act = (): void => {
    child.process.kill("SIGKILL");
  };
  proxy.arm({ statement: "", passing, when, act });
  child.process.stdin.end();
  const { code } = await child.result;
  return code !== 0;
}

interface Point {
  readonly message: number;
  readonly when: "before" | "after";
}

/** What a plan holds for the next one who comes; it can be committed, and nothing is left on the server. */
async function settled(ground: Ground, at: string): Promise<string> {
  expect({ at, rows: ground.sql(ALL) }).toEqual({ at, rows: ["1|old", "2|two"] });
  await using cofferdam = await ground.open();
  const plan = await cofferdam.plan("plan");
  const changes = (await plan.diff()).resources["shop"]?.changes.map(({ path }) => path) ?? [];
  expect({ at, clones: ground.clones() }).toEqual({ at, clones: [] });
  await plan.commit();
  const rows = changes.length === 1 ? OLD : NEW;
  expect({ at, rows: ground.sql(ALL) }).toEqual({ at, rows });
  await plan.cleanup();
  removeFolder(ground.folder);
  return String(changes);
}

it(
  "a run that is killed at any message to the server leaves the real database alone, all rows or none, and no clone",
  async () => {
    const whole = await openPlan();
    await killAt(whole, { message: Number.MAX_SAFE_INTEGER, when: "before" }, COMMAND);
    const count = proxy.passed;
    expect(count).toBeGreaterThan(20);
    await settled(whole, "not killed");
    const points = Array.from({ length: count }, (_, message) =>
      (["before", "after"] as const).map((when): Point => ({ message, when })),
    );
    const endings = new Set<string>();
    for (const point of sampleOf(24, points.flat())) {
      const ground = await openPlan();
      await killAt(ground, point, COMMAND);
      endings.add(await settled(ground, `killed ${point.when} message ${point.message}`));
    }
    for (const ending of endings)
      expect(["public.jobs/2", "public.jobs/1,public.jobs/2,public.jobs/3"]).toContain(ending);
  },
  60 * MINUTES,
);

it(
  "rows that a killed command left are taken once, wherever the one is killed who takes them",
  async () => {
    const endings = new Set<string>();
    await sweep({
      prepare: async () => {
        const ground = await openPlan();
        const left = await startChild(
          program,
          argsOf(ground, ["sh", "-c", `psql -Xqc "${EDIT}"; echo done; sleep 3600`]),
        );
        await new Promise((resolve) => left.process.stdout.once("data", resolve));
        left.process.kill("SIGKILL");
        await left.result;
        // A command's mounts are as many as the machine has at the moment.
        const sparing = [join(ground.stateDirectory, "runs")];
        return { ground, program, args: argsOf(ground, []), touching: [ground.folder], sparing };
      },
      fault: { signal: "KILL" },
      choose: samplePoints(6),
      check: async ({ ground }, _run, { call, paths }) => {
        endings.add(await settled(ground, `killed before ${call} of ${paths.join(" ")}`));
      },
    });
    expect([...endings]).toEqual(["public.jobs/1,public.jobs/2,public.jobs/3"]);
  },
  30 * MINUTES,
);
