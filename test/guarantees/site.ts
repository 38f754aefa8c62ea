import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Cofferdam, openCofferdam } from "../../src/index.ts";
import type { CofferdamOptions } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

/** A directory, and an installation with its state beside it. */
export interface Site {
  readonly folder: string;
  /** The real directory. */
  readonly shop: string;
  readonly stateDirectory: string;
  readonly cofferdam: Cofferdam;
}

/** Makes a directory with files and opens an installation; both go when the test has finished. */
export async function openSite(
  files: Readonly<Record<string, string>>,
  options: CofferdamOptions = {},
): Promise<Site> {
  const folder = tempFolder();
  const shop = join(folder, "shop");
  mkdirSync(shop);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(shop, name), text);
  const stateDirectory = join(folder, "state");
  const cofferdam = await openCofferdam({ ...options, stateDirectory, config: false });
  onTestFinished(() => cofferdam.close());
  return { folder, shop, stateDirectory, cofferdam };
}
