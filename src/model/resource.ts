/** Something real that a plan may change. */
export interface Resource {
  /** Opaque and unique within a plan; any characters. */
  readonly resourceId: string;
  /** Name of a resource type: `fs-directory`, `fs-file`, `fs-mount`, … */
  readonly type: string;
  /** Root path, or the name of a configured connection. Never holds a credential. */
  readonly location: string;
  /** Strategy for this one resource: a built-in, a registered name, or `module:ClassName`. */
  readonly sandboxStrategy?: string;
  /** Ids of resources that contain this one; children are committed before parents. */
  readonly parents?: readonly string[];
  /** Settings for the strategy, typed by the resource type. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A kind of resource with the strategies that fit it. */
export interface ResourceType {
  readonly name: string;
  /** Strategy used when nothing more specific was said. */
  readonly sandboxStrategy: string;
  /** The row of the compatibility matrix. */
  readonly supportedStrategies: readonly string[];
}

/** Which setting picked the strategy of a sandbox. */
export type StrategyOrigin = "call" | "resource" | "resourceType" | "global" | "default";
