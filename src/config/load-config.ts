import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, errnoOf } from "../errors/index.ts";
import { defaultConfig } from "./config.ts";
import type { CofferConfig } from "./config.ts";
import { configurationError } from "./config-problem.ts";
import { findConfig } from "./find-config.ts";
import type { FindConfigOptions } from "./find-config.ts";
import { parseConfig } from "./parse-config.ts";

/** Larger than any configuration; a wrong file is not read into memory. */
const MOST_BYTES = 256 * 1024;

/**
 * Reads and checks a configuration file.
 *
 * @throws ConfigurationError `CONFIGURATION`, also when the file is missing, unreadable, no regular file, too large or
 * not UTF-8.
 */
export async function loadConfig(file: string): Promise<CofferConfig> {
  const absoluteFile = resolve(file);
  return parseConfig(await readText(absoluteFile), absoluteFile);
}

/** The configuration that holds in a folder: the nearest file's, or the defaults when there is none. */
export async function loadNearestConfig(
  startDirectory: string,
  options?: FindConfigOptions,
): Promise<CofferConfig> {
  const file = await findConfig(startDirectory, options);
  return file === null ? defaultConfig(resolve(startDirectory)) : loadConfig(file);
}

async function readText(file: string): Promise<string> {
  const refuse = (found: string, expected: string, cause?: unknown): ConfigurationError =>
    configurationError(file, [{ keyPath: "", found, expected }], cause);
  try {
    // Without blocking, because the opening of a FIFO would wait for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat().then((state) => {
        if (!state.isFile()) throw refuse("no regular file", "a file");
        return state;
      });
      if (size > MOST_BYTES) throw refuse(`${size} bytes`, `at most ${MOST_BYTES} bytes`);
      return decode(await handle.readFile(), refuse);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) throw thrown;
    throw refuse(errnoOf(thrown) ?? "an error", "a readable file", thrown);
  }
}

function decode(
  bytes: Uint8Array,
  refuse: (found: string, expected: string, cause?: unknown) => ConfigurationError,
): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw refuse("bytes that are not UTF-8", "UTF-8 text", thrown);
  }
}
