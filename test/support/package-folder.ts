import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** The project that has the packed package installed; undefined in runs against the build of this checkout. */
export const installedIn = process.env["COFFERDAM_TEST_INSTALLED"];

/** The package that the tests use: the installed one, or this checkout. */
export const packageFolder =
  installedIn === undefined ? checkout : join(installedIn, "node_modules/cofferdam");

/** The same for programs that other users start: a copy where they cannot read the checkout. */
export const readablePackage = installedIn === undefined ? readable(packageFolder) : packageFolder;

/** A file of this checkout for programs that other users start: its copy where they cannot read the checkout. */
export function readable(file: string): string {
  const copy = process.env["COFFERDAM_TEST_CHECKOUT"];
  return copy === undefined ? file : join(copy, relative(checkout, file));
}

/** Lets the modules in a folder import the package by its name. */
export function linkPackage(folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/cofferdam"));
}

/** The program behind the command `coffer`. */
export function commandLine(): string {
  const text = readFileSync(join(readablePackage, "package.json"), "utf8");
  const { bin } = JSON.parse(text) as { readonly bin: { readonly coffer: string } };
  return join(readablePackage, bin.coffer);
}
