import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cofferdam, type Resource, type Sandbox, openCofferdam } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

/** One way of running a file sandbox on this machine's disk. */
export interface Subject {
  readonly name: string;
  readonly strategy: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Both copying strategies. */
export const COPIES: readonly Subject[] = [
  { name: "copy_on_write", strategy: "copy_on_write" },
  { name: "filesystem_copy", strategy: "filesystem_copy" },
];

/** Every isolating strategy, the overlay as root and as a copy. */
export const ISOLATING: readonly Subject[] = [
  ...COPIES,
  { name: "overlay kernel", strategy: "overlay", properties: { mode: "kernel" } },
  { name: "overlay copy", strategy: "overlay", properties: { mode: "copy" } },
];

/** A folder of a test with a real directory and an open library. */
export interface Site extends AsyncDisposable {
  readonly folder: string;
  readonly real: string;
  readonly state: string;
  readonly coffer: Cofferdam;
  readonly events: { readonly name: string; readonly data: unknown }[];
  sandbox(subject: Subject, more?: Partial<Resource>): Promise<Sandbox>;
}

/** Makes a directory by a shell script and opens the library beside it. */
export async function openSite(script: string, folder = tempFolder()): Promise<Site> {
  const [real, state] = [join(folder, "real"), join(folder, "state")];
  mkdirSync(real);
  shell(real, script);
  const events: Site["events"] = [];
  const coffer = await openCofferdam({
    stateDirectory: state,
    config: false,
    onEvent: ({ name, data }) => events.push({ name, data }),
  });
  let plans = 0;
  return {
    folder,
    real,
    state,
    coffer,
    events,
    async sandbox({ strategy, properties }, more = {}) {
      const resource = {
        resourceId: "tree",
        type: "fs-directory",
        location: real,
        ...more,
        properties: { ...properties, ...more.properties },
      };
      return coffer.sandbox(await coffer.create(`plan-${++plans}`, resource, { strategy }));
    },
    [Symbol.asyncDispose]: () => coffer.close(),
  };
}

/** Runs a shell script in a folder and gives what it printed. */
export function shell(folder: string, script: string): string {
  return execFileSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: folder,
    encoding: "utf8",
  });
}

/** Every path below a folder, for finding what was left behind. */
export function listing(folder: string): string[] {
  return execFileSync("find", [folder, "-mindepth", "1"], { encoding: "utf8" }).split("\n").sort();
}
