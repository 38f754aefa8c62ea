import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Cofferdam, type Plan, type PlanRunOptions, openCofferdam } from "cofferdam";
import { tempFolder } from "../../../test/support/temp.ts";
import type { TestEngine } from "./test-engine.ts";

/** What a command said, and its exit code. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly surroundings: readonly string[];
}

const PATIENCE_MS = 30_000;
const STEP_MS = 50;

/** A directory with a page, an installation, and an engine that runs the commands. */
export class Site {
  readonly folder = tempFolder();
  readonly root = join(this.folder, "site");
  readonly stateDirectory = join(this.folder, "state");
  readonly engine: TestEngine;
  #outputs = 0;

  constructor(engine: TestEngine) {
    this.engine = engine;
    mkdirSync(this.root);
    writeFileSync(join(this.root, "page"), "old\n");
  }

  open(options: Readonly<Record<string, unknown>> = {}): Promise<Cofferdam> {
    const config = this.engine.configuration(options);
    return openCofferdam({ stateDirectory: this.stateDirectory, config });
  }

  plan(cofferdam: Cofferdam, properties?: Readonly<Record<string, unknown>>): Promise<Plan> {
    return cofferdam.plan("plan", [
      {
        id: "site",
        type: "fs-directory",
        location: this.root,
        sandboxStrategy: "container",
        ...(properties !== undefined && { properties }),
      },
    ]);
  }

  /** Runs a script in a plan, in the place of the directory. */
  async run(plan: Plan, script: string, options: PlanRunOptions = {}): Promise<Ran> {
    this.#outputs += 1;
    const files = ["out", "err"].map((name) => join(this.folder, `${name}-${this.#outputs}`));
    const [out = -1, err = -1] = files.map((file) => openSync(file, "w"));
    try {
      const all = { cwd: this.root, stdio: ["ignore", out, err] as const, ...options };
      const { exitCode, surroundings } = await plan.run(["sh", "-c", script], all);
      const [stdout = "", stderr = ""] = files.map((file) => readFileSync(file, "utf8"));
      return { exitCode, stdout, stderr, surroundings };
    } finally {
      closeSync(out);
      closeSync(err);
    }
  }

  /** Waits until something has come true. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
      if (await isTrue()) return;
      await pause(STEP_MS);
    }
    throw new Error("it never came true");
  }

  page(): string {
    return readFileSync(join(this.root, "page"), "utf8");
  }
}

/** Runs a shell script of the host in a folder. */
export function shell(folder: string, script: string): string {
  return execFileSync("sh", ["-euc", `umask 022\n${script}`], { cwd: folder, encoding: "utf8" });
}
