import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCofferdam } from "../index.ts";
import type { Cofferdam, CofferdamOptions, Resource, SandboxRef } from "../index.ts";
import type { ProgramResult } from "./run-program.ts";
import { plantTree } from "./sample-tree.ts";
import type { ConformanceSession, ConformanceSubject } from "./subject.ts";

/** What a subject over directories is made from. */
export interface DirectorySubjectInit {
  readonly name: string;
  readonly strategyName: string;
  /** Where checks make their folders; the folder for temporary files unless given. */
  readonly below?: string;
  /** What `openCofferdam` gets besides the state directory, such as the configuration that names the strategy. */
  readonly options?: CofferdamOptions;
  /** Properties of every resource, for strategies that take some. */
  readonly properties?: Resource["properties"];
  /** How the folder of a resource is made and removed, where it is a special one, such as a subvolume. */
  readonly folders?: {
    make(path: string): Promise<void>;
    remove(path: string): Promise<void>;
  };
  /** Whether resources hold their private state themselves, because nothing can be renamed into them from outside. */
  readonly holdsState?: boolean;
  /** How programs work in a sandbox when not in the directory that `getPath` gives. */
  readonly runInWorkspace?: (
    cofferdam: Cofferdam,
    ref: SandboxRef,
    program: string,
    args: readonly string[],
  ) => Promise<ProgramResult>;
}

/** A subject whose resources are directories and whose state lies beside them on the same file system. */
export function directorySubject(init: DirectorySubjectInit): ConformanceSubject {
  const { name, strategyName } = init;
  return { name, strategyName, open: () => openSession(init) };
}

async function openSession(init: DirectorySubjectInit): Promise<ConformanceSession> {
  const below = await realpath(init.below ?? tmpdir());
  const folder = await mkdtemp(join(below, "cofferdam-conformance-"));
  const stateDirectory = join(folder, "state");
  const options = { ...init.options, stateDirectory };
  const { runInWorkspace, properties, folders, holdsState = false } = init;
  const cofferdam = await openCofferdam(options);
  const made: string[] = [];
  const area = `.cofferdam-${process.geteuid?.() ?? 0}`;
  return {
    cofferdam,
    options,
    folder,
    get privateFolders() {
      return [stateDirectory, ...(holdsState ? made.map((path) => join(path, area)) : [])];
    },
    ...(holdsState && { ownPaths: [area] }),
    ...(runInWorkspace !== undefined && {
      runInWorkspace: (ref: SandboxRef, program: string, args: readonly string[]) =>
        runInWorkspace(cofferdam, ref, program, args),
    }),
    makeResource: async (tree) => {
      const resourceId = `resource-${made.length + 1}`;
      const location = join(folder, resourceId);
      await (folders?.make(location) ?? mkdir(location));
      if (holdsState) await mkdir(join(location, area), { mode: 0o700 });
      made.push(location);
      await plantTree(location, tree);
      return {
        resourceId,
        type: "fs-directory",
        location,
        ...(properties !== undefined && { properties }),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await cofferdam.close();
      if (folders !== undefined) for (const path of made) await folders.remove(path);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
