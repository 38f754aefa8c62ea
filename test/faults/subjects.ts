import type { EditKind } from "./tree.ts";

/** One way of running a sandbox. */
export interface Subject {
  readonly name: string;
  readonly strategy: string;
  readonly mode?: string;
  /** With calls nothing is ever mounted. */
  readonly edits: EditKind;
}

/** The ways that are disturbed; the other modes of overlays share the code of one of these. */
export const SUBJECTS = {
  mounted: { name: "overlay, mounted", strategy: "overlay", mode: "kernel", edits: "programs" },
  layers: { name: "overlay, layers alone", strategy: "overlay", mode: "kernel", edits: "calls" },
  copy: { name: "copy_on_write", strategy: "copy_on_write", edits: "programs" },
} as const satisfies Record<string, Subject>;
