import { type ConformanceSubject, directorySubject } from "../../src/testing/index.ts";

const OVERLAY_MODES = ["kernel", "userns", "fuse", "copy"] as const;

/** The overlay in one mode. */
export function overlayIn(mode: (typeof OVERLAY_MODES)[number]): ConformanceSubject {
  const name = `overlay in mode ${mode}`;
  return directorySubject({ name, strategyName: "overlay", properties: { mode } });
}

/** A built-in strategy without a mode. */
export function plain(strategyName: string): ConformanceSubject {
  return directorySubject({ name: strategyName, strategyName });
}

/** Every built-in strategy for directories that isolates, in every mode that it has. */
export const ISOLATING_SUBJECTS: readonly ConformanceSubject[] = [
  ...OVERLAY_MODES.map(overlayIn),
  plain("copy_on_write"),
  plain("filesystem_copy"),
];
