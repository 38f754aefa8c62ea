import { SandboxCreationError, SandboxError, describeThrown } from "../../errors/index.ts";
import { OVERLAY_MODES, type OverlayMode, type TriedMode } from "./mode-names.ts";
import type { TrialSite } from "./trial.ts";
import { tryFuse, tryKernel, tryUserNamespace } from "./trial.ts";

/** The mode that a sandbox will use, and all that were tried for it. */
export interface ChosenMode {
  readonly mode: OverlayMode;
  readonly reason: string;
  readonly tried: readonly TriedMode[];
}

const TRIALS = {
  kernel: tryKernel,
  userns: tryUserNamespace,
  fuse: tryFuse,
  copy: () => Promise.resolve("always works"),
} as const satisfies Record<OverlayMode, (site: TrialSite) => Promise<string>>;

/**
 * Finds the first mode that works at the very place of the sandbox, by mounting there. With `wanted` only that one is
 * tried. Nothing of the trials remains.
 * @throws SandboxCreationError (`SANDBOX_CREATION`) when the wanted mode does not work or a mount hangs.
 */
export async function chooseMode(site: TrialSite, wanted: OverlayMode | null): Promise<ChosenMode> {
  const tried: TriedMode[] = [];
  for (const mode of wanted === null ? OVERLAY_MODES : [wanted]) {
    try {
      const reason = await TRIALS[mode](site);
      tried.push({ mode, works: true, reason });
      return { mode, reason: reasonFor(tried, wanted), tried };
    } catch (cause) {
      // A machine that cannot do it says so at once; one that hangs must not be asked again.
      if (cause instanceof SandboxError || wanted !== null) throw failure(mode, cause);
      tried.push({ mode, works: false, reason: describeThrown(cause) });
    }
  }
  throw new Error("a copy always works");
}

function reasonFor(tried: readonly TriedMode[], wanted: OverlayMode | null): string {
  if (wanted !== null) return "this mode was asked for";
  const failed = tried.filter((one) => !one.works).map(({ mode, reason }) => `${mode}: ${reason}`);
  return failed.length === 0 ? "the first choice works here" : failed.join("; ");
}

function failure(mode: OverlayMode, cause: unknown): SandboxCreationError {
  const why = describeThrown(cause);
  return new SandboxCreationError(`An overlay in mode ${mode} cannot be mounted here: ${why}`, {
    operation: "create",
    cause,
    hint: "`coffer doctor` tells what this machine can do; without a wanted mode the best one is chosen.",
    data: { stage: "mount", residue: [] },
  });
}
