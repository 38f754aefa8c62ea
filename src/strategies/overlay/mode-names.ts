/** How a sandbox shows its directory to programs; the order in which they are tried. */
export const OVERLAY_MODES = ["kernel", "userns", "fuse", "copy"] as const;

/** One of the modes. */
export type OverlayMode = (typeof OVERLAY_MODES)[number];

/** What became of a trial. */
export interface TriedMode {
  readonly mode: OverlayMode;
  readonly works: boolean;
  /** Why it does not work, or what was done to find out that it does. */
  readonly reason: string;
}
