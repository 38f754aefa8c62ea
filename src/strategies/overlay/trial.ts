import { OperationTimeoutError } from "../../errors/index.ts";
import { type BytePath, joinPath } from "../../model/byte-path.ts";
import {
  AT,
  OPEN,
  close,
  getXattr,
  mkdirAt,
  mountOverlay,
  openAt,
  openBeneath,
} from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { KERNEL_OPTIONS, fuseOptions, kernelOptionString } from "./mount-options.ts";
import { type Dialect, findStat, makeWhiteout, markName, FUSE_OPAQUE_ATTRIBUTE } from "./marks.ts";
import { unmountAt } from "./unmount.ts";

/** Where modes are tried: the folder of the sandbox to be, and the real directory. */
export interface TrialSite {
  /** Absolute; holds a link `b` to the real directory. */
  readonly directory: BytePath;
  readonly root: BytePath;
  readonly timeoutMs: number;
}

const TRIAL = "try";
/** A name that is most unlikely to be in any tree. */
const PROBE = ".cofferdam-trial-2c9d1f";
/** Constant text; the options come in as an argument. */
const MOUNT_AND_PROBE = 'mount -t overlay overlay -o "$1" try/m && mkdir "try/m/$2"';
const NAMESPACES = [
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--mount",
  "--propagation",
  "private",
];

/** Mounts as root, in this very process. */
export async function tryKernel(site: TrialSite): Promise<string> {
  return withTrial(site, async (dirFd) => {
    const started = performance.now();
    const target = joinPath(site.directory, `${TRIAL}/m`);
    mountOverlay({
      lower: [site.root],
      upper: joinPath(site.directory, `${TRIAL}/u`),
      work: joinPath(site.directory, `${TRIAL}/w`),
      target,
      // Nothing written here is ever needed: without this, taking the mount away syncs the whole disk.
      options: { ...KERNEL_OPTIONS, volatile: true },
    });
    try {
      const fd = openBeneath(dirFd, `${TRIAL}/m` as BytePath, OPEN.readOnly | OPEN.directory);
      try {
        mkdirAt(fd, PROBE);
      } finally {
        close(fd);
      }
    } finally {
      await unmountAt(site.directory, `${TRIAL}/m`, site.timeoutMs);
    }
    refuseSlowness(performance.now() - started, site.timeoutMs);
    return checkMarks(dirFd, ["trusted"]);
  });
}

/** Mounts in a user and mount namespace of its own, which ends with the trial. */
export async function tryUserNamespace(site: TrialSite): Promise<string> {
  return withTrial(site, async (dirFd) => {
    const options = kernelOptionString("user", ["b"], `${TRIAL}/u`, `${TRIAL}/w`);
    const script = ["sh", "-c", MOUNT_AND_PROBE, "sh", options, PROBE];
    await runTrial(site, dirFd, "unshare", [...NAMESPACES, "--", ...script]);
    return checkMarks(dirFd, ["user"]);
  });
}

/** Starts fuse-overlayfs. */
export async function tryFuse(site: TrialSite): Promise<string> {
  return withTrial(site, async (dirFd) => {
    const options = fuseOptions(["b"], `${TRIAL}/u`, `${TRIAL}/w`);
    try {
      await runTrial(site, dirFd, "fuse-overlayfs", ["-o", options, `${TRIAL}/m`]);
      // Through a program: a server that hangs must not hold this process up.
      await runTrial(site, dirFd, "mkdir", ["--", `${TRIAL}/m/${PROBE}`]);
    } finally {
      await unmountAt(site.directory, `${TRIAL}/m`, site.timeoutMs);
    }
    return checkMarks(dirFd, ["trusted", "user"]);
  });
}

async function withTrial(
  site: TrialSite,
  work: (dirFd: number) => Promise<string>,
): Promise<string> {
  const dirFd = openAt(AT.workingDirectory, site.directory, OPEN.readOnly | OPEN.directory);
  try {
    removeTree(dirFd, TRIAL);
    for (const name of ["", "/u", "/w", "/m"]) mkdirAt(dirFd, `${TRIAL}${name}`, 0o700);
    try {
      return await work(dirFd);
    } finally {
      removeTree(dirFd, TRIAL);
    }
  } finally {
    close(dirFd);
  }
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
  throw new Error(stderr.toString("utf8").trim() || `${program} ended with ${exitCode}`);
}

/** A view that cannot tell removed and replaced entries from others would lose them: the marks must be real. */
function checkMarks(dirFd: number, dialects: readonly Dialect[]): string {
  const fd = openBeneath(dirFd, `${TRIAL}/u` as BytePath, OPEN.readOnly | OPEN.directory);
  try {
    if (findStat(fd, PROBE) === null)
      throw new Error("what is written there does not reach the upper layer");
    const probeFd = openAt(fd, PROBE, OPEN.readOnly | OPEN.directory);
    try {
      const names = [
        ...dialects.map((dialect) => markName(dialect, "opaque")),
        FUSE_OPAQUE_ATTRIBUTE,
      ];
      const isMarked = names.some((name) => getXattr(probeFd, name)?.toString("latin1") === "y");
      if (!isMarked) throw new Error("the file system keeps no extended attributes for overlays");
    } finally {
      close(probeFd);
    }
    makeWhiteout(fd, "whiteout");
  } finally {
    close(fd);
  }
  return "a trial mount worked";
}

function refuseSlowness(elapsedMs: number, limitMs: number): void {
  if (elapsedMs <= limitMs) return;
  throw new OperationTimeoutError(`The mount took longer than ${limitMs} ms`, {
    data: { limitMs, childEnded: true },
  });
}
