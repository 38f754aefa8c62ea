import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { EarlierState } from "../../tree/scan/plan-copy.ts";
import type { Identity } from "../../tree/tree-entry.ts";
import type { Generation } from "./generation.ts";

/** A file that differed from the base when a checkpoint was made; null when it may have been changing right then. */
export type ListedFile = readonly [path: RelativePath, identity: Identity | null];

interface Since {
  readonly checkpoint: string;
  readonly listed: readonly (readonly [path: string, identity: readonly string[] | null])[];
}

const fileOf = (generation: Generation): string => `${displayPath(generation.folder)}/since.json`;

/**
 * Notes what a workspace was when a checkpoint was made of it, or when it was made from one, so that the next
 * checkpoint need not copy what is the same still. Not durable: without it the next one costs a full copy.
 */
export async function noteCheckpoint(
  generation: Generation,
  checkpoint: string,
  listed: readonly ListedFile[],
): Promise<void> {
  const since: Since = {
    checkpoint,
    listed: listed.map(([path, identity]) => [path, identity && pack(identity)]),
  };
  const file = fileOf(generation);
  await writeFile(`${file}.new`, JSON.stringify(since), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The last checkpoint whose files the next one can share; null when there is none. */
export function lastCheckpoint(
  generation: Generation,
  treeOf: (checkpoint: string) => BytePath,
): (Omit<EarlierState, "manifest"> & { readonly tree: BytePath }) | null {
  let since: Since;
  try {
    since = JSON.parse(readFileSync(fileOf(generation), "utf8")) as Since;
  } catch {
    // Not there, or cut short by a power loss: the next checkpoint is a full copy.
    return null;
  }
  const tree = treeOf(since.checkpoint);
  if (!existsSync(Buffer.from(tree, "latin1"))) return null;
  const listed = since.listed.map(
    ([path, words]) => [path as RelativePath, words && unpack(words)] as const,
  );
  return { tree, listed: new Map(listed) };
}

function pack({ ino, size, mtimeNs, ctimeNs }: Identity): readonly string[] {
  return [ino, size, mtimeNs, ctimeNs].map(String);
}

function unpack([ino = "0", size, mtimeNs = "0", ctimeNs = "0"]: readonly string[]): Identity {
  return {
    type: "file",
    ino: BigInt(ino),
    size: Number(size),
    mtimeNs: BigInt(mtimeNs),
    ctimeNs: BigInt(ctimeNs),
  };
}
