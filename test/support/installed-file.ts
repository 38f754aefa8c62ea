import { createRequire } from "node:module";
import { join } from "node:path";

/** The modules of `src/` that everybody may import, and the names they have for everybody. */
export const PUBLIC_MODULES: Readonly<Record<string, string>> = {
  "index.ts": "cofferdam",
  "testing/index.ts": "cofferdam/testing",
};

/** The public module of `src/` that a name means; undefined for every other name. */
export function moduleNamed(name: string): string | undefined {
  return Object.keys(PUBLIC_MODULES).find((module) => PUBLIC_MODULES[module] === name);
}

/** The file that a project has for a public module of `src/`, found by its name. Throws for every other module. */
export function installedFile(project: string, module: string): string {
  const name = PUBLIC_MODULES[module];
  if (name === undefined) throw new Error(`src/${module} is no public module of the package`);
  return createRequire(join(project, "package.json")).resolve(name);
}
