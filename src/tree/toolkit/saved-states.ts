import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../journal/durable-file.ts";
import { type RelativePath, toBytePath } from "../../model/byte-path.ts";
import type { EntryState } from "../../model/change.ts";
import { readBeneath } from "../beneath.ts";
import type { TreeState } from "./tree-state.ts";

/** What a sandbox started from, and what it shows. */
export interface TreeStates {
  readonly base: TreeState;
  readonly draft: TreeState;
}

/** Puts both states into a file, in one step, and on the disk. */
export async function saveStates(file: string, { base, draft }: TreeStates): Promise<void> {
  await replaceFile(file, JSON.stringify({ base: [...base], draft: [...draft] }));
}

/** The states that `saveStates` put there. */
export async function loadStates(file: string): Promise<TreeStates> {
  const saved = JSON.parse(await readFile(file, "utf8")) as Record<
    keyof TreeStates,
    [string, EntryState][]
  >;
  return { base: new Map(saved.base), draft: new Map(saved.draft) };
}

/** Puts a content into a folder under its hash, which is given back: whole, on the disk, and once. */
export async function saveContent(folder: string, content: Uint8Array | string): Promise<string> {
  const hash = createHash("sha256").update(content).digest("hex");
  const file = join(folder, hash);
  if (!existsSync(file)) await replaceFile(file, content);
  return hash;
}

/** The content of a file below a directory. No link is followed, on the way or at its end. */
export function readContent(root: string, path: string): Promise<Uint8Array> {
  return Promise.resolve().then(() =>
    readBeneath(toBytePath(root), toBytePath(path) as RelativePath),
  );
}
