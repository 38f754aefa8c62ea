import { resolve } from "node:path";
import type { StorageArea } from "../contract/host.ts";
import {
  describeThrown,
  errnoOf,
  PlatformUnsupportedError,
  SandboxCreationError,
  SandboxError,
} from "../errors/index.ts";
import { listAreas } from "../journal/area-list.ts";
import type { KnownArea } from "../journal/area-list.ts";
import { locatePath } from "../journal/resource-root.ts";
import { defaultStateDirectory, openStateDirectory } from "../journal/state-directory.ts";
import { trialArea } from "../journal/trial-area.ts";
import { toBytePath } from "../model/byte-path.ts";
import type { Ability } from "../platform/ability.ts";
import { probePlatform } from "../platform/probe.ts";
import type { PlatformReport } from "../platform/probe.ts";
import { describeForeign, findForeign } from "../tree/foreign-entries.ts";
import { presentUser } from "../tree/owners.ts";
import { inspectGit } from "./inspect-git.ts";
import type { GitReport } from "./inspect-git.ts";
import { interruptedTransactions } from "./interrupted-transactions.ts";
import type { InterruptedTransaction } from "./interrupted-transactions.ts";
import { configOf } from "./open.ts";
import type { CofferdamOptions, Surroundings } from "./open.ts";

/** Options of `inspectMachine`, with the meaning that they have for `openCofferdam`. */
export type InspectOptions = Pick<
  CofferdamOptions,
  "stateDirectory" | "config" | "allowParentArea"
>;

/** The state directory, as far as it can be used. */
export interface StateReport extends Ability {
  readonly directory: string;
}

/** Where layers, staged files and undo data of a resource at the path would live. */
export interface AreaReport extends Ability {
  readonly path: string | null;
  readonly foundBy: StorageArea["foundBy"] | null;
}

/** What this machine can do for a resource at one path, each thing tried out. */
export interface MachineReport extends PlatformReport {
  /** Where it was looked, links resolved. */
  readonly path: string;
  /** The configuration file; null when there is none. */
  readonly configFile: string | null;
  readonly node: string;
  readonly git: GitReport;
  readonly state: StateReport;
  readonly area: AreaReport;
  /** Whether the user namespace can change what lies at the path; not where owner or group are not the user's own. */
  readonly ownFiles: Ability;
  /** Every area that this installation uses. */
  readonly areas: readonly KnownArea[];
  /** Transactions whose process died before they ended. */
  readonly interrupted: readonly InterruptedTransaction[];
  /** Whether a sandbox can be made at the path, by layers or by a copy. */
  readonly usable: boolean;
}

/**
 * Finds out what this machine can do for a resource at a path, by trying it where a sandbox would live. What does not
 * work is told in the report. Leaves nothing behind but the state directory itself; recovers nothing.
 */
export async function inspectMachineWith(
  path: string,
  options: InspectOptions,
  surroundings: Omit<Surroundings, "builtIns">,
): Promise<MachineReport> {
  const { environment, home, workingDirectory } = surroundings;
  const config = await configOf(options.config, workingDirectory);
  const usual = config.state.directory ?? defaultStateDirectory(environment, home);
  const real = locate(path);
  const state = await openState(options.stateDirectory ?? usual);
  const { area, platform } = await inspectArea(real, state, options.allowParentArea ?? false);
  return {
    path: real,
    configFile: config.file,
    node: process.version,
    ...platform,
    git: await inspectGit(),
    state,
    area,
    ownFiles: platform.nativeCalls.works ? inspectOwners(real) : { works: true },
    areas: state.works ? listAreas(state.directory) : [],
    interrupted: state.works ? await interruptedTransactions(state.directory) : [],
    usable: platform.nativeCalls.works && state.works && area.works,
  };
}

function locate(path: string): string {
  try {
    return locatePath(path).path;
  } catch (cause) {
    // Without native calls the report is what the caller needs most.
    if (cause instanceof PlatformUnsupportedError) return resolve(path);
    throw new SandboxCreationError(`${path} cannot be used: ${describeThrown(cause)}`, {
      data: { stage: "resource", residue: [] },
      operation: "inspect",
      hint: errnoOf(cause) === "ENOENT" ? "Name an existing file or directory." : undefined,
      cause,
    });
  }
}

async function openState(directory: string): Promise<StateReport> {
  try {
    const { path } = await openStateDirectory(directory);
    return { directory: path, works: true };
  } catch (error) {
    return { directory, ...failure(error) };
  }
}

async function inspectArea(
  path: string,
  state: StateReport,
  allowParent: boolean,
): Promise<{ readonly area: AreaReport; readonly platform: PlatformReport }> {
  const nowhere = { path: null, foundBy: null };
  if (!state.works) {
    const area = { ...nowhere, works: false, reason: "there is no state directory" };
    return { area, platform: await probePlatform(toBytePath(path)) };
  }
  try {
    await using area = await trialArea(path, { stateDirectory: state.directory, allowParent });
    return {
      area: { path: area.path, foundBy: area.foundBy, works: true },
      platform: await probePlatform(toBytePath(area.path)),
    };
  } catch (error) {
    const platform = await probePlatform(toBytePath(state.directory));
    return { area: { ...nowhere, ...failure(error) }, platform };
  }
}

/** Looks at the first names at the path, as whoever makes a sandbox there does. */
function inspectOwners(path: string): Ability {
  const user = presentUser();
  const foreign = user === null ? null : findForeign(toBytePath(path), [], user);
  if (foreign === null) return { works: true };
  return {
    works: false,
    reason: `${describeForeign(foreign)}, and cannot be changed in a user namespace`,
    hint: "fuse-overlayfs is used where it works, else a copy; docs/limits.md tells more",
  };
}

function failure(error: unknown): Ability {
  const hint = error instanceof SandboxError ? error.hint : null;
  return { works: false, reason: describeThrown(error), ...(hint !== null && { hint }) };
}
