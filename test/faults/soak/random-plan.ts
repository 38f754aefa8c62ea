import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Cofferdam, Plan, Sandbox } from "../../../src/index.ts";

/** Files with what is in them, by path. */
export type Files = Readonly<Record<string, string>>;

/** One resource of a random plan, with what it must hold before and after its commit. */
export interface RandomResource {
  readonly id: string;
  readonly location: string;
  readonly strategy: string;
  readonly old: Files;
  readonly new: Files;
}

const STRATEGIES = ["overlay", "copy_on_write", "filesystem_copy"];
const NAMES = ["a", "b", "c", "deep/d", "deep/e", "deep/er/f"];

/** Makes one to four real directories, on any of the devices, with files in them. */
export function makeResources(
  planId: string,
  devices: readonly string[],
  random: () => number,
): RandomResource[] {
  const count = 1 + Math.floor(random() * 4);
  return Array.from({ length: count }, (_, at) => {
    const location = join(pick(devices, random), `${planId}-${at}`);
    const old = Object.fromEntries(
      NAMES.filter(() => random() < 0.7).map((name) => [name, contentFor(random)]),
    );
    mkdirSync(location);
    for (const [path, content] of Object.entries(old)) {
      mkdirSync(dirname(join(location, path)), { recursive: true });
      writeFileSync(join(location, path), content);
    }
    return { id: `r${at}`, location, strategy: pick(STRATEGIES, random), old, new: old };
  });
}

/** A plan over these resources. */
export function planOf(
  coffer: Cofferdam,
  planId: string,
  resources: readonly RandomResource[],
): Promise<Plan> {
  return coffer.plan(
    planId,
    resources.map(({ id, location, strategy }) => {
      return { id, type: "fs-directory", location, sandboxStrategy: strategy };
    }),
  );
}

/** Edits every sandbox at random, so that every one has something to publish; gives what must come of it. */
export async function editAtRandom(
  plan: Plan,
  resources: readonly RandomResource[],
  random: () => number,
): Promise<RandomResource[]> {
  const edited: RandomResource[] = [];
  for (const resource of resources) {
    const files = { ...resource.old };
    const sandbox = plan.sandbox(resource.id);
    for (let left = Math.floor(random() * 4); left > 0; left--) {
      await editOnce(sandbox, files, random);
    }
    // At last, so that nothing takes it back.
    const sure = `${plan.id} ${contentFor(random)}`;
    const path = pick(NAMES, random);
    await write(sandbox, files, path, sure === resource.old[path] ? `${sure} again` : sure);
    edited.push({ ...resource, new: files });
  }
  return edited;
}

async function editOnce(
  sandbox: Sandbox,
  files: Record<string, string>,
  random: () => number,
): Promise<void> {
  const there = Object.keys(files);
  if (random() < 0.4 && there.length > 1) {
    const path = pick(there, random);
    await sandbox.remove(path);
    delete files[path];
  } else {
    await write(sandbox, files, pick(NAMES, random), contentFor(random));
  }
}

async function write(
  sandbox: Sandbox,
  files: Record<string, string>,
  path: string,
  content: string,
): Promise<void> {
  await sandbox.write(path, content);
  files[path] = content;
}

/** Any of these. */
export function pick<T>(from: readonly T[], random: () => number): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("there is nothing to choose from");
  return found;
}

function contentFor(random: () => number): string {
  const size = random() < 0.1 ? 100_000 : Math.floor(random() * 2_000);
  return String.fromCharCode(97 + Math.floor(random() * 26)).repeat(size + 1);
}
