import type { Cofferdam, CofferdamOptions, Resource, SandboxRef } from "../index.ts";
import type { ProgramResult } from "./run-program.ts";
import type { SampleTree } from "./sample-tree.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the kit is run against: one strategy, in one mode, on one kind of place. */
export interface ConformanceSubject {
  /** Shown as the name of the suite. */
  readonly name: string;
  /** The strategy under test, as a resource would name it. */
  readonly strategyName: string;
  /** A fresh installation in a place of its own; called once for every check. */
  open(): Promise<ConformanceSession>;
}

/** What people do with a resource past all sandboxes, by means that are not those of the strategy. */
export interface OutsideAccess {
  /** Runs a shell script in a folder that holds what the resource holds, then makes the resource what the script left. */
  run(resource: Resource, script: string): Promise<string>;
  /** Every entry with its content: two are equal when nothing differs. */
  snapshot(resource: Resource): Promise<Snapshot>;
  /** Every entry with what nobody can forge, such as the id of its version: equal ones were never touched. */
  identities(resource: Resource): Promise<Snapshot>;
}

/** One installation with room for resources; whoever opens it disposes of it, and then nothing of it remains. */
export interface ConformanceSession extends AsyncDisposable {
  readonly cofferdam: Cofferdam;
  /** What opens the same installation in another process; must survive JSON. */
  readonly options: CofferdamOptions;
  /** An existing folder for what checks put beside a resource. */
  readonly folder: string;
  /** Folders that hold everything the installation keeps for itself. */
  readonly privateFolders: readonly string[];
  /** Names in every resource that hold private state and are no part of it; there before anything is made. */
  readonly ownPaths?: readonly string[];
  /** How others see and change a resource, where it is no directory of this machine. */
  readonly outside?: OutsideAccess;
  /** Makes a new resource that holds this tree; of links, modes and the like only what such a resource can hold. */
  makeResource(tree: SampleTree): Promise<Resource>;
  /** Runs a program that works in the sandbox; by default in the directory that `getPath` gives. */
  runInWorkspace?(
    ref: SandboxRef,
    program: string,
    args: readonly string[],
  ): Promise<ProgramResult>;
}
