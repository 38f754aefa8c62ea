import { realpath, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describeThrown, errnoOf } from "../errors/index.ts";
import { isFileModule, packageNameOf } from "../model/strategy-specifier.ts";
import { JITI_OPTIONS } from "./jiti-options.ts";

/** Where modules of strategies may come from. */
export interface PluginAccess {
  /** The folder that relative modules and packages are looked up from. */
  readonly directory: string;
  /** Folders below which modules may lie. */
  readonly roots: readonly string[];
  /** Packages that may be used. */
  readonly packages: readonly string[];
}

/** The file of a module that may be imported, or why there is none. Links are resolved: the path is the real one. */
export type LocatedPlugin =
  | { readonly path: string; readonly refused?: never }
  | { readonly refused: PluginRefusal; readonly path?: never };

/** Why a module is not imported. */
export interface PluginRefusal {
  readonly reason: "notAllowed" | "notFound";
  readonly explanation: string;
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The kinds of files that can hold a strategy. */
const EXTENSIONS = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

/**
 * Finds the file of a module and checks, after all links were resolved, that it lies below an allowed folder or inside
 * an allowed package. Reads names only: nothing of the module is run. What an allowed module imports by itself is not
 * checked, because its code can do anything once it runs.
 */
export async function locatePlugin(module: string, access: PluginAccess): Promise<LocatedPlugin> {
  const located = isFileModule(module)
    ? await locateFile(module, access)
    : await locateInPackage(module, access);
  if (located.path === undefined) return located;
  const state = await stat(located.path);
  if (!state.isFile()) return refuse("notFound", `${located.path} is not a file`);
  if (!EXTENSIONS.includes(extname(located.path))) {
    return refuse("notAllowed", `${located.path} does not end in ${EXTENSIONS.join(", ")}`);
  }
  return located;
}

async function locateFile(module: string, access: PluginAccess): Promise<LocatedPlugin> {
  const path = resolve(access.directory, module);
  const real = await realPathOf(path);
  if (typeof real !== "string") {
    const couldBe = access.roots.some((root) => isBelow(path, resolve(root)));
    return couldBe ? notFound(path, real.cause) : outside(path, access);
  }
  const roots = await Promise.all(access.roots.map((root) => realPathOf(root)));
  const root = roots.find((one) => typeof one === "string" && isBelow(real, one));
  if (typeof root !== "string") return outside(real, access);
  if (relative(root, real).split("/").includes("node_modules")) {
    const hint = "Name the package instead, and list it under sandbox.plugin_packages.";
    return refuse("notAllowed", `${real} belongs to a package`, hint);
  }
  return { path: real };
}

async function locateInPackage(module: string, access: PluginAccess): Promise<LocatedPlugin> {
  const name = packageNameOf(module);
  if (name === null || !access.packages.includes(name)) {
    const hint = "List it under sandbox.plugin_packages; a file begins with ./ or /.";
    return refuse("notAllowed", `the package ${name ?? module} is not listed`, hint);
  }
  if (isBuiltin(module)) return refuse("notAllowed", `${module} is a part of Node`);
  const folder = await packageFolder(name, resolve(access.directory));
  if (folder === null) return notFound(`the package ${name}`);
  const { createJiti } = await import("jiti");
  let url: string;
  try {
    url = createJiti(join(access.directory, "cofferdam.yaml"), JITI_OPTIONS).esmResolve(module);
  } catch (thrown) {
    return notFound(`${module} (${describeThrown(thrown)})`, thrown);
  }
  const real = await realPathOf(fileURLToPath(url));
  if (typeof real !== "string") return notFound(module, real.cause);
  return isBelow(real, folder)
    ? { path: real }
    : refuse("notAllowed", `${module} leads to ${real}, outside of its package`);
}

/** The real folder of an installed package, as Node looks for it; null when it is not installed. */
async function packageFolder(name: string, directory: string): Promise<string | null> {
  const real = await realPathOf(join(directory, "node_modules", name));
  if (typeof real === "string") return real;
  const parent = dirname(directory);
  return parent === directory ? null : packageFolder(name, parent);
}

async function realPathOf(path: string): Promise<string | { readonly cause: unknown }> {
  try {
    return await realpath(path);
  } catch (cause) {
    return { cause };
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function outside(path: string, access: PluginAccess): LocatedPlugin {
  const hint = "Allow another folder under sandbox.plugin_roots.";
  const roots =
    access.roots.length === 0 ? "no folder is" : `allowed is ${access.roots.join(", ")}`;
  return refuse("notAllowed", `${path} lies outside the allowed folders (${roots})`, hint);
}

function notFound(what: string, cause?: unknown): LocatedPlugin {
  const code = errnoOf(cause);
  const explanation = `${what} was not found${code === null || code === "ENOENT" ? "" : ` (${code})`}`;
  return {
    refused: { reason: "notFound", explanation, ...(cause === undefined ? {} : { cause }) },
  };
}

function refuse(
  reason: PluginRefusal["reason"],
  explanation: string,
  hint?: string,
): LocatedPlugin {
  return { refused: { reason, explanation, ...(hint === undefined ? {} : { hint }) } };
}
