import { chmodSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "./remove-folder.ts";

/** Choices for a temp folder. */
export interface TempOptions {
  /** Permission bits; 0700 unless another user has to get in. */
  readonly mode?: number;
  /** Where it is made; the run's own temp folder unless given. */
  readonly below?: string;
}

/**
 * Makes a fresh folder for the running test and removes it, with whatever is in it by then, when the
 * test has finished. Call it inside a test or in `beforeEach`.
 */
export function tempFolder(options: TempOptions = {}): string {
  const path = createTempFolder(options);
  onTestFinished(() => removeFolder(path));
  return path;
}

/** Makes a fresh folder that the caller has to give to `removeFolder`, as in `beforeAll`. */
export function createTempFolder(options: TempOptions = {}): string {
  const path = mkdtempSync(join(realpathSync(options.below ?? tmpdir()), "cofferdam-test-"));
  chmodSync(path, options.mode ?? 0o700);
  return path;
}
