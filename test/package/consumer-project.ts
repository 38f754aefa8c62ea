import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect } from "vitest";
import { linkPackage } from "../support/package-folder.ts";
import { tempFolder } from "../support/temp.ts";
import type { Answers } from "./programs/by-name.ts";

const source = readFileSync(new URL("./programs/by-name.ts", import.meta.url), "utf8");
const { code } = transformSync(source, { loader: "ts", format: "esm", target: "node20" });

/** A project that has the package, a program that imports it by its name, and a folder for each name. */
export class ConsumerProject {
  readonly folder = tempFolder();

  constructor(names: readonly string[]) {
    linkPackage(this.folder);
    writeFileSync(join(this.folder, "program.mjs"), code);
    for (const name of names) {
      mkdirSync(join(this.folder, name));
      writeFileSync(join(this.folder, name, "prices.txt"), "apples 3\n");
    }
  }

  /** Does something in a process of its own. */
  run<Task extends keyof Answers>(task: Task, wanted = ""): Answers[Task] {
    const { stderr, stdout, status } = this.#start(task, wanted);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return JSON.parse(stdout) as Answers[Task];
  }

  /** Commits with a strategy that gets its process killed; gives the number of the process. */
  die(wanted: string): number {
    const { pid, stderr, signal } = this.#start("commit", wanted);
    expect({ stderr, signal }).toEqual({ stderr: "", signal: "SIGKILL" });
    return pid;
  }

  /** The lines that another program says. */
  ask(command: string, ...args: readonly string[]): readonly string[] {
    const { stdout } = spawnSync(command, args, { cwd: this.folder, encoding: "utf8" });
    return stdout === "" ? [] : stdout.trimEnd().split("\n");
  }

  #start(task: keyof Answers, wanted: string): SpawnSyncReturns<string> {
    const line = ["program.mjs", task, wanted];
    return spawnSync(process.execPath, line, { cwd: this.folder, encoding: "utf8" });
  }
}
