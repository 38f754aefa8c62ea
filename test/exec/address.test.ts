import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import {
  type Cofferdam,
  FilesystemCopyStrategy,
  type Plan,
  type PlanRunOptions,
  type PlanRunResult,
  type SandboxAddress,
  type SandboxRef,
  type StrategyCapabilities,
  StrategyValidationError,
  openCofferdam,
} from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

/** Lends what its resource says, instead of a path. */
class LendsAddress extends FilesystemCopyStrategy {
  override readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    copies: true,
  };

  async beginCopy(ref: SandboxRef): Promise<SandboxAddress> {
    const { location } = await this.host.resourceOf(ref);
    return JSON.parse(readFileSync(join(location, "lent.json"), "utf8")) as SandboxAddress;
  }
  async endCopy(ref: SandboxRef): Promise<void> {
    const { location } = await this.host.resourceOf(ref);
    writeFileSync(join(location, "ended"), "");
  }
}

const opened: Cofferdam[] = [];
afterEach(async () => {
  for (const cofferdam of opened.splice(0)) await cofferdam.close();
});

interface Lending {
  readonly folder: string;
  readonly plan: Plan;
  /** What the command printed. */
  run(script: string, options?: PlanRunOptions): Promise<PlanRunResult & { said: string }>;
}

/** A plan over resources that lend these answers. */
async function lending(answers: Readonly<Record<string, unknown>>): Promise<Lending> {
  const folder = tempFolder();
  for (const [name, answer] of Object.entries(answers)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "lent.json"), JSON.stringify(answer));
  }
  const stateDirectory = join(folder, "state");
  const strategies = { lends: LendsAddress };
  const cofferdam = await openCofferdam({ stateDirectory, config: false, strategies });
  opened.push(cofferdam);
  const resources = Object.keys(answers).map((id) => ({
    id,
    type: "fs-directory",
    location: join(folder, id),
    sandboxStrategy: "lends",
  }));
  const plan = await cofferdam.plan("plan", resources);
  return {
    folder,
    plan,
    run: async (script, options = {}) => {
      const said = join(folder, "said");
      const ran = await plan.run(["/bin/sh", "-euc", `{ ${script}; } > ${said}`], {
        cwd: folder,
        outside: "allow",
        stdio: ["ignore", "ignore", "inherit"],
        ...options,
      });
      return { ...ran, said: readFileSync(said, "utf8").trim() };
    },
  };
}

const ONE = { environment: { ADDRESS: "one", OLD: null }, needsNetwork: true };
const TWO = { environment: { ADDRESS: "two", MORE: "more" }, needsNetwork: false };
const TELL = 'echo "$ADDRESS $ADDRESS_ONE $ADDRESS_TWO_DB $MORE ${OLD:-none} $COFFERDAM_PLAN"';
const env = { PATH: process.env["PATH"], OLD: "old", ADDRESS: "real" };

it("a command has the addresses in its environment, the plain names of the first resource", async () => {
  const { folder, run } = await lending({ one: ONE, "two-db": TWO });
  const ran = await run(TELL, { env });
  expect(ran).toMatchObject({ exitCode: 0, unreached: [], said: "one one two more none plan" });
  expect(["one", "two-db"].map((id) => existsSync(join(folder, id, "ended")))).toEqual([
    true,
    true,
  ]);
});

it("an address that needs the network is named as out of reach where there is none", async () => {
  const { run } = await lending({ one: ONE, two: TWO });
  const told: string[] = [];
  const ran = await run("true", { network: false, onUnreached: (ids) => told.push(...ids) });
  expect([ran.unreached, told]).toEqual([["one"], ["one"]]);
});

it("an address serves a command that has no view of its own as well", async () => {
  const { run } = await lending({ one: ONE });
  // Without the programs that make a view there is none.
  const ran = await run("echo $ADDRESS", { env: { PATH: tempFolder() } });
  expect(ran).toMatchObject({ said: "one", enclosed: { isEnclosed: false }, unreached: [] });
});

const WRONG: readonly (readonly [what: string, answer: unknown])[] = [
  ["no object", "postgres://secret"],
  ["no absolute paths", { location: "here", file: 1 }],
  ["a name that is none", { environment: { "A=B": "x" }, needsNetwork: false }],
  ["the engine's own name", { environment: { COFFERDAM_PLAN: "x" }, needsNetwork: false }],
  ["values that are none", { environment: { A: 7, B: "a\0b" }, needsNetwork: false }],
  ["no word about the network", { environment: {} }],
  ["no environment", { environment: 1, needsNetwork: true }],
];

it.each(WRONG)("an answer with %s is refused before the command starts", async (_what, answer) => {
  const { folder, plan, run } = await lending({ one: answer });
  const running = run("touch started");
  await expect(running).rejects.toBeInstanceOf(StrategyValidationError);
  expect(JSON.stringify(await running.catch((error: unknown) => error))).not.toContain("secret");
  expect(existsSync(join(folder, "started"))).toBe(false);
  // The plan goes on: whoever comes next gives back what was lent.
  expect((await plan.diff()).isEmpty).toBe(true);
  expect(existsSync(join(folder, "one", "ended"))).toBe(true);
});
