import { OperationTimeoutError, SandboxCreationError } from "../../errors/index.ts";
import { type BytePath, displayPath, joinPath } from "../../model/byte-path.ts";
import { steadyMs } from "../../platform/clock.ts";
import { type MountEntry, mountAt, mountsBelow } from "../../platform/mount-table.ts";
import {
  AT,
  OPEN,
  close,
  mountOverlay,
  openAt,
  statAt,
  statFd,
} from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { shareLiveLock } from "./live-lock.ts";
import { KERNEL_OPTIONS, fuseOptions } from "./mount-options.ts";
import { MASK_LAYER, NAMES, layerPath, relativeLayer, withFolder } from "./sandbox-files.ts";
import type { OverlayState } from "./state.ts";
import { refuseColon } from "./refuse-colon.ts";
import { canonicalPath, unmountAt } from "./unmount.ts";

/** The mount at the sandbox's mount point; undefined when there is none. Never touches the mounted file system. */
export function findMount(place: SandboxPlace): MountEntry | undefined {
  return mountAt(joinPath(canonicalPath(place.directory), NAMES.mountPoint));
}

/** Whether something is mounted at the mount point. Cheap, but asks the mounted file system: not for one that may hang. */
export function isMountPoint(place: SandboxPlace): boolean {
  const fd = openAt(AT.workingDirectory, place.directory, OPEN.pathOnly | OPEN.directory);
  try {
    return statAt(fd, NAMES.mountPoint).mountId !== statFd(fd).mountId;
  } finally {
    close(fd);
  }
}

/** Lower layers of a mount, the topmost first, the real directory left out. */
export function lowerLayers(state: OverlayState): string[] {
  return [...state.layers.toReversed(), ...(state.isMasked ? [MASK_LAYER] : [])];
}

/** Mounts the layers with the kernel's overlay and checks that exactly they are mounted. Needs root. */
export async function mountKernel(
  place: SandboxPlace,
  state: OverlayState,
  limitMs: number,
): Promise<void> {
  const { directory } = place;
  const lower = lowerLayers(state).map((name) => layerPath(directory, name));
  const started = steadyMs();
  mountOverlay({
    lower: [...lower, place.root],
    upper: layerPath(directory, state.upper),
    work: joinPath(directory, NAMES.work),
    target: joinPath(directory, NAMES.mountPoint),
    options: KERNEL_OPTIONS,
  });
  try {
    if (steadyMs() - started > limitMs) throw tooSlow(limitMs);
    verifyKernelMount(place, state);
  } catch (error) {
    await unmountAt(directory, NAMES.mountPoint, limitMs);
    throw error;
  }
}

/** @throws SandboxCreationError (`SANDBOX_CREATION`) when something else is mounted there. */
export function verifyKernelMount(place: SandboxPlace, state: OverlayState): void {
  const entry = findMount(place);
  const directory = canonicalPath(place.directory);
  const expected = lowerLayers(state).map((name) => layerPath(directory, name));
  const isRight =
    entry?.fsType === "overlay" &&
    shownUpper(entry) === layerPath(directory, state.upper) &&
    shownLower(entry).join("\0") === [...expected, canonicalPath(place.root)].join("\0");
  if (!isRight) throw wrongMount(place, entry);
}

function shownUpper(entry: MountEntry): string | undefined {
  const key = "upperdir=";
  return entry.superOptions.find((option) => option.startsWith(key))?.slice(key.length);
}

/** The lower layers that an overlay's mount options name: one option each, or a list with escapes in older kernels. */
function shownLower(entry: MountEntry): string[] {
  return entry.superOptions.flatMap((option) => {
    if (option.startsWith("lowerdir+=")) return [option.slice("lowerdir+=".length)];
    if (!option.startsWith("lowerdir=")) return [];
    const paths = option.slice("lowerdir=".length).split(/(?<!\\):/);
    return paths.map((path) => path.replaceAll(/\\([\\,:])/g, "$1"));
  });
}

/** Mounts the layers with fuse-overlayfs, whose server holds the live lock as long as it runs. */
export async function mountFuse(
  place: SandboxPlace,
  state: OverlayState,
  limitMs: number,
): Promise<void> {
  const { base, work, mountPoint } = NAMES;
  const lower = [...lowerLayers(state).map(relativeLayer), base];
  const options = fuseOptions(
    lower,
    relativeLayer(state.upper),
    work,
    state.showsOwnGroup === true,
  );
  refuseColon(place.directory);
  const lock = await shareLiveLock(place.directory);
  try {
    await withFolder(place.directory, async (dirFd) => {
      const { exitCode, stderr } = await run("fuse-overlayfs", ["-o", options, mountPoint], {
        cwd: `/proc/self/fd/${dirFd}`,
        timeoutMs: limitMs,
        descriptors: [lock],
      });
      if (exitCode !== 0)
        throw new Error(stderr.toString("utf8").trim() || "fuse-overlayfs failed");
    });
    verifyFuseMount(place);
  } catch (error) {
    await unmountAt(place.directory, mountPoint, limitMs);
    throw error;
  } finally {
    close(lock);
  }
}

/** @throws SandboxCreationError (`SANDBOX_CREATION`) when something else is mounted there. */
export function verifyFuseMount(place: SandboxPlace): void {
  const entry = findMount(place);
  if (entry?.fsType !== "fuse.fuse-overlayfs") throw wrongMount(place, entry);
}

/** Takes away every mount at or below the folder of a sandbox, also those that a killed process left. */
export async function unmountAll(directory: BytePath, limitMs: number): Promise<void> {
  const root = canonicalPath(directory);
  for (const { mountPoint } of mountsBelow(root)) {
    if (mountPoint !== root) await unmountAt(directory, mountPoint.slice(root.length + 1), limitMs);
  }
}

function tooSlow(limitMs: number): OperationTimeoutError {
  return new OperationTimeoutError(`The mount took longer than ${limitMs} ms`, {
    data: { limitMs, childEnded: true },
  });
}

function wrongMount(place: SandboxPlace, entry: MountEntry | undefined): SandboxCreationError {
  const where = displayPath(joinPath(place.directory, NAMES.mountPoint));
  const what =
    entry === undefined ? "nothing" : `${entry.fsType} from ${displayPath(entry.source)}`;
  return new SandboxCreationError(
    `Mounted at ${where} is ${what}, not the layers of this sandbox`,
    {
      sandboxId: place.sandboxId,
      hint: `Look at it with \`findmnt\`, then take it away with \`umount\`.`,
      data: { stage: "mount", residue: entry === undefined ? [] : [where] },
    },
  );
}
