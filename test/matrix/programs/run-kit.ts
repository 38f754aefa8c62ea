import { readFileSync } from "node:fs";
import {
  type Cofferdam,
  type OverlayStrategy,
  type Resource,
  type SandboxRef,
  unguarded,
} from "../../../src/index.ts";
import {
  type ProgramResult,
  capabilitiesOf,
  conformanceAreas,
  directorySubject,
} from "../../../src/testing/index.ts";

/** What a process runs the kit against. */
export interface KitRun {
  readonly strategyName: string;
  readonly properties?: Resource["properties"];
  /** Where it may make folders. */
  readonly below: string;
  /** Programs run in namespaces of their own, in which the kernel has the sandbox mounted. */
  readonly inNamespace: boolean;
}

/** What became of each check, by area and title: null, or why it failed. */
export type KitResults = Readonly<Record<string, string | null>>;

const { inNamespace, ...init } = JSON.parse(readFileSync(0, "utf8")) as KitRun;
const subject = directorySubject({
  name: init.strategyName,
  ...init,
  ...(inNamespace && { runInWorkspace: runInNamespace }),
});
const capabilities = await capabilitiesOf(subject);
const results: Record<string, string | null> = {};
for (const area of conformanceAreas(subject)) {
  for (const check of area.checks) {
    if (check.requires(capabilities) !== null) continue;
    try {
      await check.run();
      results[`${area.name}: ${check.title}`] = null;
    } catch (error) {
      results[`${area.name}: ${check.title}`] = String(
        error instanceof Error ? error.stack : error,
      );
    }
  }
}
process.stdout.write(JSON.stringify(results));

async function runInNamespace(
  cofferdam: Cofferdam,
  ref: SandboxRef,
  program: string,
  args: readonly string[],
): Promise<ProgramResult> {
  await activate(cofferdam, ref);
  const strategy = unguarded(await cofferdam.strategyFor(ref)) as OverlayStrategy;
  const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C" };
  const done = await strategy.runInside(ref, [program, ...args], { env });
  return { exitCode: done.exitCode, stdout: done.stdout, stderr: done.stderr.toString() };
}

/** Tells the engine that the sandbox is in use, by a write of bytes that are there. */
async function activate(cofferdam: Cofferdam, ref: SandboxRef): Promise<void> {
  if ((await cofferdam.status(ref)) === "ACTIVE") return;
  const sandbox = cofferdam.sandbox(ref);
  const file = (await sandbox.list()).find(({ type }) => type === "file");
  if (file !== undefined) await sandbox.write(file.name, await sandbox.read(file.name));
}
