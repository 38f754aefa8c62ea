import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { EntryState } from "../../model/change.ts";
import type { TreeState } from "./tree-state.ts";

/** What a sandbox started from, and what it shows. */
export interface TreeStates {
  readonly base: TreeState;
  readonly draft: TreeState;
}

/** Puts both states into a file, in one step, and on the disk. */
export async function saveStates(file: string, { base, draft }: TreeStates): Promise<void> {
  const temporary = `${file}.new`;
  await writeSynced(temporary, JSON.stringify({ base: [...base], draft: [...draft] }));
  await rename(temporary, file);
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The states that `saveStates` put there. */
export async function loadStates(file: string): Promise<TreeStates> {
  const saved = JSON.parse(await readFile(file, "utf8")) as Record<
    keyof TreeStates,
    [string, EntryState][]
  >;
  return { base: new Map(saved.base), draft: new Map(saved.draft) };
}

async function writeSynced(file: string, text: string): Promise<void> {
  const written = await open(file, "w", 0o600);
  try {
    await written.writeFile(text);
    await written.sync();
  } finally {
    await written.close();
  }
}
