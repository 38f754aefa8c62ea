import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cofferdam, type CofferdamOptions, openCofferdam } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

/** A real directory and a place for the state of an installation, gone when the test has finished. */
export interface Place {
  readonly folder: string;
  readonly real: string;
  readonly state: string;
}

/** Makes a place whose directory a shell script fills. */
export function makePlace(script: string): Place {
  const folder = tempFolder();
  const [real, state] = [join(folder, "real"), join(folder, "state")];
  mkdirSync(real);
  shell(real, script);
  return { folder, real, state };
}

/** Opens the installation of a place. */
export function openPlace(
  { state }: Place,
  options: Omit<CofferdamOptions, "stateDirectory" | "config"> = {},
): Promise<Cofferdam> {
  return openCofferdam({ ...options, stateDirectory: state, config: false });
}

/** Runs a shell script in a folder; gives what it printed. */
export function shell(folder: string, script: string): string {
  return execFileSync("sh", ["-euc", script], { cwd: folder, encoding: "utf8" });
}
