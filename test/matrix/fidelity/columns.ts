import type { Resource } from "../../../src/index.ts";

/** One column of the table: a strategy in one mode, worked with by one user. */
export interface Column {
  readonly name: string;
  readonly user: "root" | "nobody";
  readonly strategyName: string;
  readonly properties?: Resource["properties"];
  /** Programs run where the kernel has the sandbox mounted for them alone. */
  readonly inNamespace?: boolean;
  /** There is no FUSE, so that the directory for programs is a copy. */
  readonly withoutFuse?: boolean;
  /** A commit cannot be taken back. */
  readonly noUndo?: boolean;
}

const overlay = (mode: string): Pick<Column, "strategyName" | "properties"> => ({
  strategyName: "overlay",
  properties: { mode },
});

/** Layers whose directory for programs is a copy that is folded back. */
export const COPIED_VIEW: Column = {
  name: "overlay, userns without FUSE",
  user: "nobody",
  ...overlay("userns"),
  withoutFuse: true,
};

/** Every strategy and mode, as root and without. */
export const COLUMNS: readonly Column[] = [
  { name: "overlay, kernel", user: "root", ...overlay("kernel") },
  { name: "overlay, fuse", user: "root", ...overlay("fuse") },
  { name: "overlay, copy", user: "root", ...overlay("copy") },
  { name: "copy_on_write", user: "root", strategyName: "copy_on_write" },
  { name: "filesystem_copy", user: "root", strategyName: "filesystem_copy" },
  { name: "none", user: "root", strategyName: "none", noUndo: true },
  { name: "overlay, userns", user: "nobody", ...overlay("userns"), inNamespace: true },
  { name: "overlay, fuse", user: "nobody", ...overlay("fuse") },
  { name: "overlay, copy", user: "nobody", ...overlay("copy") },
  { name: "copy_on_write", user: "nobody", strategyName: "copy_on_write" },
  { name: "filesystem_copy", user: "nobody", strategyName: "filesystem_copy" },
];
