import { type Stats, lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errnoOf } from "../errors/index.ts";
import { configurationError } from "./config-problem.ts";

/** The names a configuration file may have. */
export const CONFIG_FILE_NAMES = ["cofferdam.yaml", "cofferdam.yml"] as const;

/** Options of `findConfig`. */
export interface FindConfigOptions {
  /** Users whose files are followed, besides root and the one who runs this process. */
  readonly trustedOwners?: readonly number[];
}

/**
 * The nearest configuration file in the folder or one above it; null when there is none.
 *
 * A configuration can name code, so a file that merely lies on the way up is followed only when it belongs to the
 * running user, to root or to a trusted owner: otherwise a file planted in a shared folder would run as whoever works
 * below it. A file that is named outright is not asked for its owner.
 *
 * @throws ConfigurationError `CONFIGURATION` for a foreign file, and for two files in one folder.
 */
export async function findConfig(
  startDirectory: string,
  options: FindConfigOptions = {},
): Promise<string | null> {
  let directory = resolve(startDirectory);
  for (;;) {
    const found = configIn(directory, options);
    if (found !== null) return Promise.resolve(found);
    const parent = dirname(directory);
    if (parent === directory) return Promise.resolve(null);
    directory = parent;
  }
}

function configIn(directory: string, options: FindConfigOptions): string | null {
  const candidates = CONFIG_FILE_NAMES.map((name) => join(directory, name));
  const states = candidates.map((path) => stateOf(lstatSync, path));
  const present = candidates.filter((_, index) => states[index] !== null);
  const [file, second] = present;
  if (file === undefined) return null;
  if (second !== undefined) {
    const problem = {
      keyPath: "",
      found: `also ${second}`,
      expected: "one configuration in a folder",
    };
    throw configurationError(file, [problem]);
  }
  // The link and what it leads to: either one decides what is read, and the link's folder what paths mean.
  const link = states.find((state) => state !== null);
  const target = stateOf(statSync, file);
  for (const state of [link, target]) {
    if (state !== null && state !== undefined) refuseForeign(file, state, options);
  }
  return file;
}

function refuseForeign(file: string, state: Stats, options: FindConfigOptions): void {
  const trusted = [0, process.geteuid?.(), ...(options.trustedOwners ?? [])];
  if (trusted.includes(state.uid)) return;
  throw configurationError(file, [
    {
      keyPath: "",
      found: `a file of user ${state.uid}`,
      expected: "a file of the running user or root, or one that is named outright",
    },
  ]);
}

/** Null when there is nothing, or nothing that may be looked at. */
function stateOf(look: typeof statSync, path: string): Stats | null {
  try {
    return look(path, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errnoOf(thrown) ?? "")) return null;
    const problem = {
      keyPath: "",
      found: errnoOf(thrown) ?? "an error",
      expected: "a readable path",
    };
    throw configurationError(path, [problem], thrown);
  }
}
