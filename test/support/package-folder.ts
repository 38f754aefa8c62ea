import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project that has the packed package installed; undefined in runs against the build of this checkout. */
export const installedIn = process.env["COFFERDAM_TEST_INSTALLED"];

/** The package that the tests use: installed, or this checkout, or a copy of it that every user can read. */
export const packageFolder =
  installedIn === undefined
    ? (process.env["COFFERDAM_TEST_CHECKOUT"] ?? fileURLToPath(new URL("../..", import.meta.url)))
    : join(installedIn, "node_modules/cofferdam");

/** Lets the modules in a folder import the package by its name. */
export function linkPackage(folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/cofferdam"));
}

/** The program behind the command `coffer`. */
export function commandLine(): string {
  const text = readFileSync(join(packageFolder, "package.json"), "utf8");
  const { bin } = JSON.parse(text) as { readonly bin: { readonly coffer: string } };
  return join(packageFolder, bin.coffer);
}
