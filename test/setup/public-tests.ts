import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { PUBLIC_MODULES } from "../support/installed-file.ts";

/** What a test can reach the package by: its public modules, its name, its command line. */
const WAYS_IN = new Set([
  ...Object.keys(PUBLIC_MODULES).map((module) => `src/${module}`),
  "test/support/package-folder.ts",
]);
/** It leads every program to the package that is used, which is not by itself a use of the package. */
const BUILDS_PROGRAMS = "test/support/program.ts";

/**
 * The tests of a checkout that use the package and need nothing of it but what is public: neither they nor anything that
 * they import, types included, nor the programs that they start, name another file of `src/` or one of the build.
 */
export async function publicTests(root: string): Promise<string[]> {
  // It takes long to load, and only this needs it.
  const { default: typescript } = await import("typescript");
  const importsOf = (text: string): string[] =>
    typescript.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  const named = new Map<string, readonly string[]>();

  /** The files that a file names, and those that they name; only tests are looked into. */
  function reachedFrom(start: string): string[] {
    const reached = new Set([start]);
    for (const file of reached) {
      if (!file.startsWith("test/") || file === BUILDS_PROGRAMS) continue;
      // The samples of a test of tests name files that are nowhere.
      if (!existsSync(join(root, file))) continue;
      const names =
        named.get(file) ?? namesIn(file, readFileSync(join(root, file), "utf8"), importsOf);
      named.set(file, names);
      for (const name of names) reached.add(name);
    }
    return [...reached];
  }

  return testsBelow(root).filter((test) => {
    const reached = reachedFrom(test);
    return reached.some((file) => WAYS_IN.has(file)) && !reached.some(isInner);
  });
}

function testsBelow(root: string): string[] {
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const tests = names.filter((name) => name.endsWith(".test.ts"));
  return tests.map((name) => join("test", name)).toSorted();
}

function isInner(file: string): boolean {
  return /^(src|dist)\//.test(file) && !WAYS_IN.has(file);
}

function namesIn(file: string, text: string, importsOf: (text: string) => string[]): string[] {
  const imported = importsOf(text).filter((name) => name.startsWith("."));
  const started = [...text.matchAll(/new URL\(\s*["'`]([^"'`$]+\.ts)["'`],\s*import\.meta\.url/g)];
  const local = [...imported, ...started.map(([, name = ""]) => name)];
  const built = /["'`/]dist\//.test(text) ? ["dist/"] : [];
  return [...local.map((name) => join(dirname(file), name)), ...built];
}
