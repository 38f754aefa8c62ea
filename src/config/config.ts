import type { Resource } from "../model/resource.ts";

/** A strategy that the configuration brings in. */
export interface CustomStrategySetting {
  readonly name: string;
  /** A file, relative to the configuration's folder, or a package. */
  readonly module: string;
  readonly exportName: string;
  /** Handed to the constructor. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Take the name although it is taken. */
  readonly replace: boolean;
}

/** What the configuration says about a resource type, its own or a built-in one. */
export interface ResourceTypeSetting {
  readonly name: string;
  readonly sandboxStrategy?: string;
  readonly supportedStrategies?: readonly string[];
}

/** How a database is reached. Never printed: both may hold, or lead to, a password. */
export interface ConnectionSetting {
  /** Its scheme says which kind of server it is. */
  readonly url: string;
  /** A file whose first line is the password; null when there is none. */
  readonly passwordFile: string | null;
  /** How long a server may be silent over what is quick; absent for the usual time. */
  readonly answerMs?: number;
}

/** What may be published although it needs permission, and what never is. */
export interface PublishSetting {
  /** Glob patterns of paths that are left out of a sandbox's changes. */
  readonly exclude: readonly string[];
  readonly outwardLinks: "refuse" | "allow";
  readonly specialBits: "refuse" | "drop" | "allow";
}

/** A whole configuration, checked, with every default filled in and every path absolute. */
export interface CofferConfig {
  /** The file it came from; null when there is none and everything is a default. */
  readonly file: string | null;
  /** The folder that relative paths are relative to. */
  readonly directory: string;
  readonly sandbox: {
    /** Strategy for every resource that has no more specific one. */
    readonly strategy: string | null;
    readonly customStrategies: ReadonlyMap<string, CustomStrategySetting>;
    /** Folders below which modules of strategies may lie. */
    readonly pluginRoots: readonly string[];
    /** Packages that strategies may come from, besides this one. */
    readonly pluginPackages: readonly string[];
  };
  readonly resourceTypes: ReadonlyMap<string, ResourceTypeSetting>;
  readonly resources: ReadonlyMap<string, Resource>;
  /** Databases by the names that resources use as their location. */
  readonly connections: ReadonlyMap<string, ConnectionSetting>;
  readonly publish: PublishSetting;
  /** Where sandboxes and journals are kept; null for the usual place. */
  readonly state: { readonly directory: string | null };
  /** How long commits can be taken back. */
  readonly undo: { readonly retentionDays: number; readonly maxBytes: number };
  /** From which size of a resource on a warning is given; null for never. */
  readonly limits: { readonly warnBytes: number | null };
}

/** How long undo data is kept when nothing else was said. */
export const DEFAULT_RETENTION_DAYS = 14;

/** How much undo data a device keeps when nothing else was said. */
export const DEFAULT_UNDO_BYTES = 5 * 1024 ** 3;

/** The configuration of somebody who has no file. Only the package's own strategies can then be loaded by class. */
export function defaultConfig(directory: string): CofferConfig {
  return {
    file: null,
    directory,
    sandbox: { strategy: null, customStrategies: new Map(), pluginRoots: [], pluginPackages: [] },
    resourceTypes: new Map(),
    resources: new Map(),
    connections: new Map(),
    publish: { exclude: [], outwardLinks: "refuse", specialBits: "refuse" },
    state: { directory: null },
    undo: { retentionDays: DEFAULT_RETENTION_DAYS, maxBytes: DEFAULT_UNDO_BYTES },
    limits: { warnBytes: null },
  };
}
