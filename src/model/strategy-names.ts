const FILE_TYPES = ["fs-directory", "fs-file", "fs-mount"] as const;
const DATABASE_TYPES = ["database"] as const;

/**
 * Every built-in strategy with the built-in resource types it fits: the one place where their names stand.
 * Types, validation, the compatibility matrix and the docs derive from it; the table of implementations is
 * typed by it, so that a name without an implementation does not compile.
 */
export const STRATEGY_FITS = {
  overlay: FILE_TYPES,
  copy_on_write: FILE_TYPES,
  filesystem_copy: FILE_TYPES,
  transaction_rollback: DATABASE_TYPES,
  none: FILE_TYPES,
  git_worktree: ["git-repository"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The name of a strategy that comes with the package. */
export type BuiltInStrategyName = keyof typeof STRATEGY_FITS;

/** The names of all strategies that come with the package. */
export const BUILT_IN_STRATEGY_NAMES = Object.keys(STRATEGY_FITS) as readonly BuiltInStrategyName[];

/** The strategy of each built-in resource type when nothing more specific was said. */
export const DEFAULT_STRATEGIES = {
  "fs-directory": "overlay",
  "fs-file": "overlay",
  "fs-mount": "overlay",
  database: "transaction_rollback",
  "git-repository": "git_worktree",
} as const satisfies Readonly<
  Record<(typeof STRATEGY_FITS)[BuiltInStrategyName][number], BuiltInStrategyName>
>;

/** The name of a resource type that comes with the package. */
export type BuiltInResourceTypeName = keyof typeof DEFAULT_STRATEGIES;

/** The names of all resource types that come with the package. */
export const BUILT_IN_RESOURCE_TYPE_NAMES = Object.keys(
  DEFAULT_STRATEGIES,
) as readonly BuiltInResourceTypeName[];

/** Whether the name belongs to a strategy of the package. */
export function isBuiltInStrategyName(name: string): name is BuiltInStrategyName {
  return Object.hasOwn(STRATEGY_FITS, name);
}

/** Whether the name belongs to a resource type of the package. */
export function isBuiltInResourceTypeName(name: string): name is BuiltInResourceTypeName {
  return Object.hasOwn(DEFAULT_STRATEGIES, name);
}

/** Whether the location of such a resource is a path; of any other type it is a name. */
export function hasPathLocation(type: string): boolean {
  return isBuiltInResourceTypeName(type) && !(DATABASE_TYPES as readonly string[]).includes(type);
}

/** Whether a strategy or resource type may be registered under this name; a colon is left to `module:ClassName`. */
export function isRegistrableName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name);
}
