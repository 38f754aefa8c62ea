import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compareStates } from "../../../src/contract/compare-states.ts";
import type { Change, EntryState } from "../../../src/model/change.ts";
import type { PublishPlace } from "../../../src/tree/toolkit/publish-changes.ts";
import { readTreeState } from "../../../src/tree/toolkit/tree-state.ts";

/** Folders of one test: a tree, a copy of it with edits, a copy without, and a private folder. */
export interface Folders {
  readonly root: string;
  readonly work: string;
  readonly original: string;
  readonly spare: string;
}

/** What has to be done to the original to make it what the copy with the edits is. */
export async function changesBetween({ original, work }: Folders): Promise<Change[]> {
  return compareStates(await readTreeState(original), await readTreeState(work));
}

/** Where the changes are published: contents come from the copies. */
export async function placeOf({ root, work, original, spare }: Folders): Promise<PublishPlace> {
  mkdirSync(spare, { recursive: true });
  const files = new Map<string, string>();
  for (const folder of [original, work]) {
    for (const [path, { hash }] of await readTreeState(folder)) {
      if (hash !== null) files.set(hash, join(folder, path));
    }
  }
  const contentOf = ({ hash }: EntryState): Promise<Uint8Array> =>
    readFile(files.get(hash ?? "") ?? "");
  return { root, spare, contentOf, base: await readTreeState(original) };
}
