import type { DeclaredCapabilities } from "../index.ts";

/** What a strategy promises, in words; one phrase for each thing that matters to whoever chooses. */
export function capabilitiesInWords(capabilities: DeclaredCapabilities): readonly string[] {
  const { isolation, undoCommit, prepare, path, pathCalls, checkpoints, changeTracking } =
    capabilities;
  return [
    isolation === "full" ? "edits stay apart until commit" : "edits take effect at once",
    undoCommit ? "a commit can be undone" : "a commit cannot be undone",
    prepare ? "a commit survives a crash, whole or not at all" : "a crash can cut a commit short",
    ...(path ? ["programs can work in a directory"] : []),
    ...(pathCalls ? ["entries can be listed, removed and renamed"] : []),
    CHECKPOINTS[checkpoints],
    changeTracking === "exact" ? "knows what changed" : "finds changes by comparing",
  ];
}

const CHECKPOINTS: Readonly<Record<DeclaredCapabilities["checkpoints"], string>> = {
  native: "checkpoints cost the same for any size",
  emulated: "checkpoints are copies",
  none: "no checkpoints",
};
