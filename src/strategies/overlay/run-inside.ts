import type { RunOptions, RunResult } from "../../contract/host.ts";
import { close } from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { shareLiveLock } from "./live-lock.ts";
import { OWN_MOUNTS, kernelOptionString } from "./mount-options.ts";
import { lowerLayers } from "./mounts.ts";
import { NAMES, relativeLayer, withFolder } from "./sandbox-files.ts";
import type { OverlayState } from "./state.ts";

/** How a command runs inside a view. */
export interface InsideOptions extends Pick<RunOptions, "env" | "input" | "timeoutMs" | "signal"> {
  /** Relative to the root of the view. */
  readonly cwd?: string;
}

const NAMESPACES = [...OWN_MOUNTS, "--pid", "--fork", "--kill-child"];
/** Constant text; everything of the caller comes in as an argument. The command keeps no capability. */
const MOUNT_AND_RUN = [
  'mount -t overlay overlay -o "$1" m',
  'cd -- "m/$2"',
  "shift 2",
  'exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs -- "$@"',
].join(" && ");

/**
 * Runs a command in a user, mount and process namespace of its own, in which the layers are mounted by the kernel.
 * Needs no privilege. Nobody else sees the mount, and every process of the command ends with it.
 */
export async function runInNamespace(
  place: SandboxPlace,
  state: OverlayState,
  argv: readonly string[],
  { cwd, ...options }: InsideOptions,
): Promise<RunResult> {
  const script = ["sh", "-c", MOUNT_AND_RUN, "sh", insideOptions(state), cwd ?? ".", ...argv];
  const lock = await shareLiveLock(place.directory);
  try {
    return await withFolder(place.directory, (dirFd) =>
      run("unshare", [...NAMESPACES, "--", ...script], {
        ...options,
        cwd: `/proc/self/fd/${dirFd}`,
        env: { ...options.env, LIBMOUNT_FORCE_MOUNT2: "always" },
        descriptors: [lock],
      }),
    );
  } finally {
    close(lock);
  }
}

/** The options for `mount` in a user namespace, relative to the folder of the sandbox. */
export function insideOptions(state: OverlayState): string {
  const { base, work } = NAMES;
  const lower = [...lowerLayers(state).map(relativeLayer), base];
  return kernelOptionString("user", lower, relativeLayer(state.upper), work);
}
