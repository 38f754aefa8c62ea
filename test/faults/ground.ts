import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Cofferdam, type Resource, type SandboxRef, openCofferdam } from "../../src/index.ts";
import { type OracleAspect, oracleDifferences, takeOracle } from "../support/oracle.ts";
import { createTempFolder } from "../support/temp.ts";
import { OWN_STRATEGIES } from "./own-strategies.ts";
import type { Subject } from "./subjects.ts";
import { type Template, type TreeState, editTree } from "./tree.ts";

/** Everything that one disturbed run works on. */
export interface Ground {
  /** Holds all the rest; to be given to `removeFolder`. */
  readonly folder: string;
  readonly state: string;
  readonly begun: string;
  readonly subject: Subject;
  readonly template: Template;
  readonly resource: Resource;
  /** Configuration with connections; none unless given. */
  readonly config?: string;
  /** What belongs to the ground and lies outside of its folder; nothing unless given. */
  readonly elsewhere?: Elsewhere;
}

/** What lies outside of a ground's folder, such as the rows of a database. */
export interface Elsewhere {
  /** Folders of it whose calls matter as those in the ground's folder do. */
  readonly folders: readonly string[];
  /** All of it; equal texts mean that nothing of it changed. */
  readonly look: () => string;
  /** What nobody may leave when everything is settled, whether sandboxes are there or not. */
  readonly unsettled: () => readonly string[];
  /** What nobody may leave when there is no sandbox any more. */
  readonly leftovers: () => readonly string[];
}

/** Where a ground may hold a second tree, on a device of its own. */
export const OTHER_DEVICE = "other-device";

/** The plan of every disturbed run. */
export const PLAN = "plan";

/** A fresh copy of the tree and a place for a state directory. */
export function makeGround(subject: Subject, template: Template): Ground {
  const folder = createTempFolder();
  // A mount of its own: areas that are looked for further up stay inside.
  execFileSync("mount", ["--bind", folder, folder]);
  execFileSync("cp", ["-a", template.tree, join(folder, "real")]);
  return groundAt(folder, subject, template);
}

/** The ground that a folder holds. */
export function groundAt(folder: string, subject: Subject, template: Template): Ground {
  return {
    folder,
    state: join(folder, "state"),
    begun: join(folder, "begun"),
    subject,
    template,
    resource: {
      resourceId: "tree",
      type: "fs-directory",
      location: join(folder, "real"),
      ...(subject.mode !== undefined && { properties: { mode: subject.mode } }),
    },
  };
}

/** Opens the state directory of a ground, which recovers what was interrupted there. */
export function openGround({ state, config }: Ground): Promise<Cofferdam> {
  return openCofferdam({
    stateDirectory: state,
    config: config ?? false,
    strategies: OWN_STRATEGIES,
  });
}

/** A sandbox of the tree without any edit. */
export function createSandbox(ground: Ground, coffer: Cofferdam): Promise<SandboxRef> {
  return coffer.create(PLAN, ground.resource, { strategy: ground.subject.strategy });
}

/** A sandbox of the tree with all edits. */
export async function createEdited(ground: Ground, coffer: Cofferdam): Promise<SandboxRef> {
  const ref = await createSandbox(ground, coffer);
  const sandbox = coffer.sandbox(ref);
  if (ground.subject.edits === "programs") {
    editTree(await sandbox.getPath(), "programs", "edited");
    return ref;
  }
  await sandbox.write("a.txt", "ALPHA, edited\n");
  await sandbox.write("new/inner/file.txt", "new\n");
  await sandbox.remove("docs/deep/old.md");
  await sandbox.remove("empty");
  await sandbox.rename("docs/guide.md", "docs/manual.md");
  return ref;
}

/** Edits an edited sandbox further. */
export async function editLater(ground: Ground, coffer: Cofferdam, ref: SandboxRef): Promise<void> {
  const sandbox = coffer.sandbox(ref);
  if (ground.subject.edits === "programs") {
    editTree(await sandbox.getPath(), "programs", "later");
    return;
  }
  await sandbox.write("a.txt", "even later\n");
  await sandbox.write("later.txt", "later\n");
  await sandbox.remove("new/inner/file.txt");
}

/** In which state the real tree is; throws with the differences when it is a mixture. */
export function stateOfResource(ground: Ground): TreeState {
  return treeStateOf(ground, ground.resource.location, ["old", "edited"]);
}

/** In which state the sandbox is as other programs see it. */
export async function stateOfSandbox(
  ground: Ground,
  coffer: Cofferdam,
  ref: SandboxRef,
): Promise<TreeState> {
  return treeStateOf(ground, await coffer.sandbox(ref).getPath(), ["old", "edited", "later"]);
}

/** In which of the possible states a folder is; throws with the differences when it is a mixture. */
export function treeStateOf(
  ground: Ground,
  folder: string,
  possible: readonly TreeState[],
  exclude: readonly string[] = [],
): TreeState {
  const now = takeOracle(folder, { exclude });
  const expected = ground.template.states[ground.subject.edits];
  const differences = possible.map((state) => {
    // Calls were made at some moment of this run.
    const isDated = state === "old" || ground.subject.edits === "programs";
    const ignore: OracleAspect[] = isDated ? [] : ["mtimes"];
    return oracleDifferences(expected[state], now, { ignore });
  });
  const found = possible.find((_, at) => differences[at]?.length === 0);
  if (found !== undefined) return found;
  const told = possible.map((state, at) => `  not ${state}: ${differences[at]?.join("; ")}`);
  throw new Error(`${folder} is a mixture:\n${told.join("\n")}`);
}
