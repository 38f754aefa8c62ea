import type { Cofferdam, CofferdamOptions, Resource, SandboxRef } from "../index.ts";
import type { ProgramResult } from "./run-program.ts";
import type { SampleTree } from "./sample-tree.ts";

/** What the kit is run against: one strategy, in one mode, on one kind of place. */
export interface ConformanceSubject {
  /** Shown as the name of the suite. */
  readonly name: string;
  /** The strategy under test, as a resource would name it. */
  readonly strategyName: string;
  /** A fresh installation in a place of its own; called once for every check. */
  open(): Promise<ConformanceSession>;
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
  /** Makes a new resource that holds this tree. */
  makeResource(tree: SampleTree): Promise<Resource>;
  /** Runs a program that works in the sandbox; by default in the directory that `getPath` gives. */
  runInWorkspace?(
    ref: SandboxRef,
    program: string,
    args: readonly string[],
  ): Promise<ProgramResult>;
}
