import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { syncFolder } from "../../journal/durable-file.ts";
import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { type BytePath, nameOf } from "../../model/byte-path.ts";
import { throwUnlessErrno } from "../../platform/native/index.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { LENT } from "../../tree/strategy/place.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { NAMES, besideOf, ownerOf } from "./sandbox-files.ts";
import { STATE_FILE } from "./state.ts";
import { withTextPath } from "./text-path.ts";

/*
 * A fork uses the frozen layers of the sandbox it was made from, in the folder of that one. Whoever lends keeps a mark
 * for each borrower, with the layers that it needs: they outlive the lender, whose folder goes with its last borrower.
 */

const LENT_LAYERS: RecordFormat<{ readonly layers: readonly string[] }> = {
  name: "lent-layers",
  version: 1,
  isData: (value): value is { readonly layers: readonly string[] } =>
    hasFields(value, { layers: "object" }),
};

const LENDERS: RecordFormat<{ readonly lenders: readonly string[] }> = {
  name: "lenders",
  version: 1,
  isData: (value): value is { readonly lenders: readonly string[] } =>
    hasFields(value, { lenders: "object" }),
};

/**
 * Borrows frozen layers of another sandbox, and those that it has borrowed itself; gives the names under which the new
 * one knows them. Durable, and before the new one's state: whoever dies in between leaves what `giveBack` finds.
 */
export async function borrowLayers(
  from: SandboxPlace,
  layers: readonly string[],
  place: SandboxPlace,
): Promise<readonly string[]> {
  if (layers.length === 0) return [];
  const own = nameOf(from.directory);
  const names = layers.map((name) => (ownerOf(name) === null ? `${own}/${name}` : name));
  const lenders = [...new Set(names.map((name) => ownerOf(name) ?? own))];
  await withTextPath(place.directory, (path) =>
    writeRecord(`${path}/${NAMES.lenders}`, LENDERS, { lenders }),
  );
  for (const lender of lenders) {
    const wanted = names
      .filter((name) => ownerOf(name) === lender)
      .map((name) => name.slice(lender.length + 1));
    await withTextPath(besideOf(place.directory, lender), async (path) => {
      mkdirSync(`${path}/${LENT}`, { recursive: true, mode: 0o700 });
      await syncFolder(path);
      await writeRecord(markIn(path, place.directory), LENT_LAYERS, { layers: wanted });
    });
  }
  return names;
}

/**
 * Gives all borrowed layers back; the folder of a lender that is gone itself goes with its last borrower. Idempotent;
 * gives what could not be removed.
 */
export async function giveBack(directory: BytePath): Promise<readonly string[]> {
  const found = await withTextPath(directory, (path) =>
    readRecord(`${path}/${NAMES.lenders}`, LENDERS),
  );
  const remaining: string[] = [];
  for (const lender of found?.lenders ?? []) {
    const folder = besideOf(directory, lender);
    if (await isLastOf(folder, directory)) remaining.push(...removeFolder(folder));
  }
  return remaining;
}

/** Takes the mark of a borrower away; tells whether nobody needs the folder any more. */
async function isLastOf(lender: BytePath, borrower: BytePath): Promise<boolean> {
  try {
    return await withTextPath(lender, async (path) => {
      if (existsSync(markIn(path, borrower))) {
        rmSync(markIn(path, borrower));
        await syncFolder(`${path}/${LENT}`);
      }
      return !existsSync(`${path}/${STATE_FILE}`) && borrowersIn(path).length === 0;
    });
  } catch (error) {
    // The lender and all that it lent are gone already.
    throwUnlessErrno(error, "ENOENT");
    return false;
  }
}

/** The layers of a sandbox that others have borrowed. */
export async function lentLayers(directory: BytePath): Promise<ReadonlySet<string>> {
  return withTextPath(directory, async (path) => {
    const lent = new Set<string>();
    for (const name of borrowersIn(path)) {
      const mark = await readRecord(`${path}/${LENT}/${name}`, LENT_LAYERS);
      for (const layer of mark?.layers ?? []) lent.add(layer);
    }
    return lent;
  });
}

function markIn(lender: string, borrower: BytePath): string {
  return `${lender}/${LENT}/${nameOf(borrower)}.json`;
}

function borrowersIn(lender: string): string[] {
  try {
    return readdirSync(`${lender}/${LENT}`).filter((name) => !name.startsWith("."));
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return [];
  }
}
