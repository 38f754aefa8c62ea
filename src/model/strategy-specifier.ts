/** A strategy named by where its class is. */
export interface StrategySpecifier {
  /** A file (begins with `./`, `../` or `/`) or a package, with or without a subpath. */
  readonly module: string;
  /** The name of the exported class, `default` included. */
  readonly exportName: string;
}

/** Why a text does not name a class that may be loaded. */
export type SpecifierProblem = "malformed" | "notAllowed";

/** A text after parsing: a specifier, or what is wrong with it. */
export type ParsedSpecifier =
  | { readonly specifier: StrategySpecifier; readonly problem?: never }
  | { readonly problem: SpecifierProblem; readonly specifier?: never };

const URL_SCHEME = /^(?:data|node|file|https?|npm|jsr|blob):|^[a-z][a-z0-9+.-]*:\/\//i;
const SCHEME_LIKE = /^[a-z][a-z0-9+.-]*:/i;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const PACKAGE = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:\/(.+))?$/i;

/** Whether the text names a class in a module rather than a registered strategy. */
export function isStrategySpecifier(text: string): boolean {
  return text.includes(":");
}

/**
 * Parses `module:ClassName`. The last colon separates the two, so the module may itself hold colons while a class
 * name, being an identifier, cannot: there is one reading of every text. URLs of any scheme are not allowed.
 */
export function parseStrategySpecifier(text: string): ParsedSpecifier {
  if (URL_SCHEME.test(text)) return { problem: "notAllowed" };
  const cut = text.lastIndexOf(":");
  if (cut < 0) return { problem: "malformed" };
  return checkSpecifier({ module: text.slice(0, cut), exportName: text.slice(cut + 1) });
}

/** Checks a module and a class name that were given apart. */
export function checkSpecifier(specifier: StrategySpecifier): ParsedSpecifier {
  const { module, exportName } = specifier;
  if (module === "" || module.includes("\0") || !IDENTIFIER.test(exportName)) {
    return { problem: "malformed" };
  }
  if (isFileModule(module)) return { specifier };
  if (SCHEME_LIKE.test(module)) return { problem: "notAllowed" };
  return packageNameOf(module) === null ? { problem: "malformed" } : { specifier };
}

/** Whether the module is a path, relative or absolute, rather than a package. */
export function isFileModule(module: string): boolean {
  return /^(?:\.{0,2}\/)/.test(module);
}

/** The package that a module such as `@scope/name/sub` belongs to; null when it is not the name of one. */
export function packageNameOf(module: string): string | null {
  const [, name, subpath] = PACKAGE.exec(module) ?? [];
  if (name === undefined || isFileModule(module)) return null;
  return subpath?.split("/").some((part) => part === ".." || part === "." || part === "")
    ? null
    : name;
}

/** Whether the text is the name of a package without a subpath. */
export function isPackageName(text: string): boolean {
  return packageNameOf(text) === text;
}
