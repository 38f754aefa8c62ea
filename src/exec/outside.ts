import { type Dirent, chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";

/**
 * What becomes of writes outside the plan.
 *
 * - `discard`: they go to a layer that is thrown away; as an ordinary user this holds for the home directory and the
 *   folders for temporary files, and everything else cannot be written to.
 * - `read-only`: they fail, except in the folders for temporary files, which are thrown away.
 * - `allow`: they are real.
 */
export type Outside = "discard" | "read-only" | "allow";

/** One thing that a command did outside the plan, and that was thrown away. */
export interface OutsideChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted";
}

/** Everything that was thrown away. */
export interface OutsideReport {
  readonly counts: Readonly<Record<OutsideChange["kind"], number>>;
  /** In the order of their paths; at most `MOST_LISTED`, the counts tell of all. */
  readonly changes: readonly OutsideChange[];
}

/** A layer that takes the writes below a path. */
export interface ThrowAwayLayer {
  readonly at: string;
  /** Where the layer lies. */
  readonly upper: string;
}

/** How many paths are listed. */
export const MOST_LISTED = 10_000;

/** Tells what the layers hold, before they are thrown away. */
export function listOutside(layers: readonly ThrowAwayLayer[]): OutsideReport {
  const counts = { added: 0, modified: 0, deleted: 0 };
  const changes: OutsideChange[] = [];
  for (const layer of layers) {
    for (const change of changesIn(layer.upper, layer.at)) {
      counts[change.kind] += 1;
      if (changes.length < MOST_LISTED) changes.push(change);
    }
  }
  return { counts, changes };
}

function* changesIn(layer: string, real: string): Generator<OutsideChange> {
  for (const entry of entriesOf(layer)) {
    const [inLayer, path] = [join(layer, entry.name), join(real, entry.name)];
    if (!entry.isDirectory()) {
      yield { path, kind: isWhiteout(inLayer, entry) ? "deleted" : kindOf(path) };
      continue;
    }
    // A folder is copied into the layer whenever something below it changes; it counts only when it is new and empty.
    const isNew = kindOf(path) === "added";
    if (isNew && entriesOf(inLayer).length === 0) yield { path, kind: "added" };
    yield* changesIn(inLayer, path);
  }
}

function entriesOf(folder: string): Dirent[] {
  return readFolder(folder).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
    // The command closed a folder of its own, which is about to be thrown away.
    chmodSync(folder, 0o700);
    return readdirSync(folder, { withFileTypes: true });
  }
}

function isWhiteout(path: string, entry: Dirent): boolean {
  return entry.isCharacterDevice() && lstatSync(path).rdev === 0;
}

function kindOf(path: string): "added" | "modified" {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? "added" : "modified";
  } catch {
    // In a folder that is closed to us there may be anything.
    return "modified";
  }
}
