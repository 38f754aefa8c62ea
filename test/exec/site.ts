import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Cofferdam, type Plan, type PlanRunOptions, openCofferdam } from "../../src/index.ts";
import type { PlanResource, PlanRunResult } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

/** What a command did and said. */
export interface Ran extends PlanRunResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** A home with a project in it, and an installation whose state lies in the home as it usually does. */
export interface ExecSite {
  readonly home: string;
  readonly project: string;
  readonly coffer: Cofferdam;
  readonly plan: Plan;
  /** Runs a script of the shell in the plan, in the project unless told otherwise. */
  run(script: string, options?: PlanRunOptions): Promise<Ran>;
  runArgv(argv: readonly string[], options?: PlanRunOptions): Promise<Ran>;
}

/** Makes a home, of that name if given, a project with two files, and a plan over it, or over what `make` makes there. */
export async function openExecSite(
  make?: (home: string) => readonly PlanResource[],
  name = "",
): Promise<ExecSite> {
  const home = join(tempFolder(), name);
  const project = join(home, "project");
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "a.txt"), "old\n");
  writeFileSync(join(project, "b.txt"), "old\n");
  writeFileSync(join(home, "notes.txt"), "mine\n");
  useHome(home);
  const stateDirectory = join(home, ".local", "state", "cofferdam");
  const coffer = await openCofferdam({ stateDirectory, config: false });
  onTestFinished(() => coffer.close());
  const plan = await coffer.plan("plan", make?.(home) ?? [project]);
  onTestFinished(() => plan.cleanup({ force: true }).then(() => undefined));
  const runArgv = async (argv: readonly string[], options: PlanRunOptions = {}): Promise<Ran> => {
    const files = ["stdout", "stderr"].map((name) => join(tempFolder(), name));
    const [out = 0, err = 0] = files.map((file) => openSync(file, "w"));
    try {
      const cwd = project;
      const result = await plan.run(argv, { cwd, stdio: ["ignore", out, err], ...options });
      const [stdout = "", stderr = ""] = files.map((file) => readFileSync(file, "utf8"));
      return { ...result, stdout, stderr };
    } finally {
      closeSync(out);
      closeSync(err);
    }
  };
  const run = (script: string, options?: PlanRunOptions): Promise<Ran> =>
    runArgv(["sh", "-c", script], options);
  return { home, project, coffer, plan, run, runArgv };
}

/** Whether a process with this text in its command line is there. */
export function isRunning(text: string): boolean {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(text);
}

function useHome(home: string): void {
  const usual = process.env["HOME"];
  process.env["HOME"] = home;
  onTestFinished(() => {
    if (usual === undefined) delete process.env["HOME"];
    else process.env["HOME"] = usual;
  });
}
