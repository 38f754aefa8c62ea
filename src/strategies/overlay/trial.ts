import { OperationTimeoutError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  isTextPath,
  joinPath,
} from "../../model/byte-path.ts";
import { steadyMs } from "../../platform/clock.ts";
import {
  AT,
  MODE,
  OPEN,
  close,
  mkdirAt,
  mknodAt,
  mountOverlay,
  openAt,
  openBeneath,
  throwUnlessErrno,
  unmountAtOnce,
} from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";
import type { ForeignEntry } from "../../tree/foreign-entries.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { type Dialect, findStat, makeWhiteout, markOpaque } from "./marks.ts";
import { KERNEL_OPTIONS, OWN_MOUNTS, fuseOptions, kernelOptionString } from "./mount-options.ts";
import { refuseColon } from "./refuse-colon.ts";
import { writeMasks } from "./mask.ts";
import { NAMES, withFolder as withOpenFolder } from "./sandbox-files.ts";
import { unmountAt } from "./unmount.ts";

/** Where modes are tried: the folder of the sandbox to be, and the real directory. */
export interface TrialSite {
  /** Absolute; holds a link `b` to the real directory, and the empty folder `m`. */
  readonly directory: BytePath;
  readonly root: BytePath;
  /** A path of ours inside the resource, when the layers themselves lie there; else null. */
  readonly mask: RelativePath | null;
  readonly timeoutMs: number;
  /** An entry of the real directory that a user namespace could not change; null when none was seen. */
  readonly foreign: ForeignEntry | null;
  /** Whether fuse-overlayfs is to show everything with the user's own group. */
  readonly showsOwnGroup: boolean;
}

const TRIAL = "try";
const UPPER = `${TRIAL}/u`;
const LOWER = `${TRIAL}/l`;
const WORK = `${TRIAL}/w`;
/** That of the sandbox itself. */
const MERGED = NAMES.mountPoint;
/** Begins the names that the trial uses; most unlikely to be in any tree. */
const PROBE = ".cofferdam-trial-2c9d1f";
const REPLACED = `${PROBE}-replaced`;
const REMOVED = `${PROBE}-removed`;
/** Constant text; names and options come in as arguments. */
const PROBE_VIEW = ': >"m/$1" && test -d "m/$2" && test ! -e "m/$2/hidden" && test ! -e "m/$3"';
const MOUNT_AND_PROBE = `mount -t overlay overlay -o "$4" m && ${PROBE_VIEW}`;
const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** Mounts as root, in this very process. */
export function tryKernel(site: TrialSite): Promise<string> {
  return withTrial(site, "trusted", async (dirFd) => {
    const started = steadyMs();
    const path = (name: string): BytePath => joinPath(site.directory, name);
    mountOverlay({
      lower: [...(site.mask === null ? [path(LOWER)] : []), site.root],
      upper: path(UPPER),
      work: path(WORK),
      target: path(MERGED),
      // Nothing written here is ever needed: without this, taking the mount away syncs the whole disk.
      options: { ...KERNEL_OPTIONS, volatile: true },
    });
    try {
      probeView(dirFd, site.mask);
    } finally {
      if (!unmountAtOnce(`/proc/self/fd/${dirFd}/${MERGED}`))
        await unmountAt(site.directory, MERGED, site.timeoutMs);
    }
    refuseSlowness(steadyMs() - started, site.timeoutMs);
  });
}

/** Mounts in a user and mount namespace of its own, which ends with the trial. */
export function tryUserNamespace(site: TrialSite): Promise<string> {
  return withTrial(site, "user", async (dirFd) => {
    const options = kernelOptionString("user", lowerOf(site), UPPER, WORK);
    const script = ["sh", "-c", MOUNT_AND_PROBE, "sh", ...probesOf(site)];
    await runTrial(site, dirFd, "unshare", [...OWN_MOUNTS, "--", ...script, options]);
  });
}

/** Starts fuse-overlayfs. */
export function tryFuse(site: TrialSite): Promise<string> {
  const dialect = process.geteuid?.() === 0 ? "trusted" : "user";
  return withTrial(site, dialect, async (dirFd) => {
    const options = fuseOptions(lowerOf(site), UPPER, WORK, site.showsOwnGroup);
    refuseColon(site.directory);
    try {
      await runTrial(site, dirFd, "fuse-overlayfs", ["-o", options, MERGED]);
      // Through a program: a server that hangs must not hold this process up.
      await runTrial(site, dirFd, "sh", ["-c", PROBE_VIEW, "sh", ...probesOf(site)]);
      await touchForeign(site, dirFd);
    } finally {
      await unmountAt(site.directory, MERGED, site.timeoutMs);
    }
  });
}

/** A folder of the user's own with another group has to be copied into the upper layer, as for any change in it. */
async function touchForeign(site: TrialSite, dirFd: number): Promise<void> {
  const { foreign } = site;
  if (foreign === null || !foreign.isOwn || !foreign.isFolder || !isTextPath(foreign.path)) return;
  await runTrial(site, dirFd, "touch", ["-c", "--", `${MERGED}/${displayPath(foreign.path)}`]);
}

/** Inside the resource no layer of ours can be a lower one; there the mask is the removed entry that must not show. */
function lowerOf({ mask }: TrialSite): string[] {
  return mask === null ? [LOWER, "b"] : ["b"];
}

function probesOf({ mask }: TrialSite): string[] {
  return [PROBE, REPLACED, mask === null ? REMOVED : displayPath(mask)];
}

/**
 * Runs a trial over two small layers that hold a replaced folder and a removed file: a view that does not understand
 * the marks would show what a sandbox removed. Takes everything away again.
 */
async function withTrial(
  site: TrialSite,
  dialect: Dialect,
  work: (dirFd: number) => Promise<void>,
): Promise<string> {
  const dirFd = openAt(AT.workingDirectory, site.directory, DIRECTORY);
  try {
    removeTree(dirFd, TRIAL);
    for (const name of [TRIAL, UPPER, LOWER, WORK]) mkdirAt(dirFd, name, 0o700);
    try {
      furnish(dirFd, dialect);
      if (site.mask !== null) await furnishMask(site, dirFd, site.mask, dialect);
      await work(dirFd);
      requireProbe(dirFd);
    } finally {
      removeTree(dirFd, TRIAL);
    }
  } finally {
    close(dirFd);
  }
  return "a trial mount worked";
}

function furnish(dirFd: number, dialect: Dialect): void {
  for (const layer of [LOWER, UPPER]) mkdirAt(dirFd, `${layer}/${REPLACED}`);
  // Files, because they come and go faster than folders.
  for (const name of [`${REPLACED}/hidden`, REMOVED]) mknodAt(dirFd, `${LOWER}/${name}`, MODE.file);
  withFolder(dirFd, UPPER, (fd) => makeWhiteout(fd, REMOVED));
  withFolder(dirFd, `${UPPER}/${REPLACED}`, (fd) => markOpaque(fd, dialect));
}

async function furnishMask(
  site: TrialSite,
  dirFd: number,
  mask: RelativePath,
  dialect: Dialect,
): Promise<void> {
  await withOpenFolder(site.root, (rootFd) =>
    withFolder(dirFd, UPPER, (fd) => writeMasks(fd, rootFd, [mask], dialect)),
  );
}

/** What `PROBE_VIEW` does, in this process. */
function probeView(dirFd: number, mask: RelativePath | null): void {
  withFolder(dirFd, MERGED, (fd) => {
    mknodAt(fd, PROBE, MODE.file);
    if (isThere(fd, mask ?? REMOVED)) throw new Error("removed entries show through");
    withFolder(fd, REPLACED, (child) => {
      if (findStat(child, "hidden") !== null) throw new Error("replaced folders show through");
    });
  });
}

function isThere(dirFd: number, path: string): boolean {
  try {
    close(openBeneath(dirFd, path, OPEN.pathOnly | OPEN.noFollow));
    return true;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return false;
  }
}

function requireProbe(dirFd: number): void {
  withFolder(dirFd, UPPER, (fd) => {
    if (findStat(fd, PROBE) !== null) return;
    throw new Error("what is written there does not reach the upper layer");
  });
}

async function runTrial(
  { timeoutMs }: TrialSite,
  dirFd: number,
  program: string,
  args: readonly string[],
): Promise<void> {
  const cwd = `/proc/self/fd/${dirFd}`;
  const env = { LIBMOUNT_FORCE_MOUNT2: "always" };
  const { exitCode, stderr } = await run(program, args, { cwd, env, timeoutMs });
  if (exitCode === 0) return;
  const said = stderr.toString("utf8").trim();
  throw new Error(said === "" ? `${program} ended with ${exitCode}` : said);
}

function withFolder(dirFd: number, name: string, work: (fd: number) => void): void {
  const fd = openBeneath(dirFd, name, DIRECTORY);
  try {
    work(fd);
  } finally {
    close(fd);
  }
}

function refuseSlowness(elapsedMs: number, limitMs: number): void {
  if (elapsedMs <= limitMs) return;
  throw new OperationTimeoutError(`The mount took longer than ${limitMs} ms`, {
    data: { limitMs, childEnded: true },
  });
}
