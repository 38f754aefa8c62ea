import type { TreeChange } from "../tree-change.ts";

/** A raw change with what reading its content told. */
export interface ReadChange extends TreeChange {
  readonly beforeHash: string | null;
  readonly afterHash: string | null;
  readonly differs: boolean;
}
