import { SandboxCreationError, SandboxError, describeThrown } from "../../errors/index.ts";
import { describeForeign } from "../../tree/foreign-entries.ts";
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
  for (const mode of wanted === null ? orderFor(site) : [wanted]) {
    const obstacle = wanted === null && mode === "userns" ? foreignObstacle(site) : null;
    if (obstacle !== null) {
      tried.push({ mode, works: false, reason: obstacle });
      continue;
    }
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

/**
 * Finds another mode where a copy was the choice because of foreign entries, and could not be made.
 * @throws the copy's own failure where there is none.
 */
export async function chooseInstead(site: TrialSite, cause: unknown): Promise<ChosenMode> {
  const { mode, tried: others } = await chooseMode({ ...site, foreign: null }, null);
  if (mode === "copy") throw cause;
  const tried = [{ mode: "copy" as const, works: false, reason: describeThrown(cause) }, ...others];
  return { mode, tried, reason: reasonFor(tried, null) };
}

/** What belongs to others can hardly be changed anyway, so that a copy, which gives it to the user, is the last choice. */
function orderFor({ foreign }: TrialSite): readonly OverlayMode[] {
  return foreign === null || foreign.isOwn ? OVERLAY_MODES : ["kernel", "fuse", "userns", "copy"];
}

/** Why files of the user's own could not be changed in a user namespace; null where nothing of that was seen. */
function foreignObstacle({ foreign }: TrialSite): string | null {
  if (foreign === null || !foreign.isOwn) return null;
  return `${describeForeign(foreign)}, and so it could not be changed there`;
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
