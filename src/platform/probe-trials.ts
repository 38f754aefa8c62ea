import { accessSync, constants } from "node:fs";
import type { RunResult } from "../contract/host.ts";
import { describeThrown } from "../errors/index.ts";
import type { Ability } from "./ability.ts";
import { mountById } from "./mount-table.ts";
import {
  OPEN,
  RENAME,
  cloneFile,
  close,
  openAt,
  renameAt,
  statFd,
  throwUnlessErrno,
} from "./native/index.ts";
import type { TrialDirectory } from "./probe-directory.ts";
import { run } from "./run.ts";

/** Tries one thing out in a folder of its own. */
export type Trial = (place: TrialDirectory, timeoutMs: number) => Promise<Ability>;

const LAYERS = "lowerdir=lower,upperdir=upper,workdir=work";
/** Writes through the mounted view and looks where the bytes went. Nothing of the caller is ever put into this text. */
const CHECK_VIEW =
  'printf changed >merged/file && test "$(cat lower/file)" = base && test "$(cat upper/file)" = changed';
const MOUNT_AND_CHECK = `mount -t overlay overlay -o "$1" merged && ${CHECK_VIEW}`;

/** The kernel's overlay, mounted directly; needs root. The mount lives and dies with a namespace of its own. */
export const tryKernelOverlay: Trial = async (place, timeoutMs) => {
  const args = [
    "--mount",
    "--propagation",
    "private",
    "--",
    "sh",
    "-c",
    MOUNT_AND_CHECK,
    "sh",
    LAYERS,
  ];
  const result = await run("unshare", args, { cwd: place.workingDirectory, timeoutMs });
  return abilityFrom(
    result,
    "run as root with CAP_SYS_ADMIN, on a file system that can hold overlay layers",
  );
};

/** The kernel's overlay inside a user namespace, which ordinary users may make on most machines. */
export const tryUserNamespaceOverlay: Trial = async (place, timeoutMs) => {
  const namespaces = [
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "--propagation",
    "private",
  ];
  const args = [...namespaces, "--", "sh", "-c", MOUNT_AND_CHECK, "sh", `${LAYERS},userxattr`];
  const result = await run("unshare", args, { cwd: place.workingDirectory, timeoutMs });
  return abilityFrom(
    result,
    "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)",
  );
};

/** fuse-overlayfs, mounted for this user. */
export const tryFuseOverlay: Trial = async (place, timeoutMs) => {
  const where = { cwd: place.workingDirectory, timeoutMs };
  const obstacle = (await missingFuseProgram(timeoutMs)) ?? unusableFuseDevice();
  if (obstacle !== null) return obstacle;
  const hint = "see the documentation of fuse-overlayfs";
  const mounted = await run("fuse-overlayfs", ["-o", LAYERS, "merged"], where);
  if (mounted.exitCode !== 0) return abilityFrom(mounted, hint);
  const checked = await run("sh", ["-c", CHECK_VIEW], where);
  const unmounted = await run("fusermount3", ["-u", "merged"], where);
  return abilityFrom(checked.exitCode === 0 ? unmounted : checked, hint);
};

async function missingFuseProgram(timeoutMs: number): Promise<Ability | null> {
  try {
    await run("fuse-overlayfs", ["--version"], { timeoutMs });
    return null;
  } catch (error) {
    // EACCES: one of the folders in PATH may not be searched, and the others do not have it.
    throwUnlessErrno(error, "ENOENT", "EACCES");
    return {
      works: false,
      reason: "the program fuse-overlayfs is not installed",
      hint: "apt-get install fuse-overlayfs",
    };
  }
}

function unusableFuseDevice(): Ability | null {
  try {
    accessSync("/dev/fuse", constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    return {
      works: false,
      reason: `/dev/fuse cannot be used: ${describeThrown(error)}`,
      hint: "load the kernel module fuse and allow reading and writing its device",
    };
  }
}

/** Sharing content between two files. */
export const tryReflink: Trial = async (place) => {
  const source = openAt(place.fd, "lower/file", OPEN.readOnly);
  try {
    const copy = openAt(
      place.fd,
      "upper/copy",
      OPEN.create | OPEN.exclusive | OPEN.writeOnly,
      0o600,
    );
    try {
      if (cloneFile(source, copy)) return { works: true };
    } finally {
      close(copy);
    }
    return {
      works: false,
      reason: `${fileSystemName(source)} cannot share content between files`,
      hint: "use xfs or btrfs",
    };
  } finally {
    close(source);
  }
};

/** Swapping two entries in one step. */
export const tryExchange: Trial = async (place) => {
  const before = inodeOf(place, "lower/file");
  close(openAt(place.fd, "upper/other", OPEN.create | OPEN.exclusive | OPEN.writeOnly, 0o600));
  try {
    renameAt(place.fd, "lower/file", place.fd, "upper/other", RENAME.exchange);
  } catch (error) {
    throwUnlessErrno(error, "EINVAL", "ENOSYS", "ENOTSUP");
    return {
      works: false,
      reason: `${fileSystemName(place.fd)} cannot swap two names`,
      hint: "use ext4, xfs, btrfs or tmpfs",
    };
  }
  return inodeOf(place, "upper/other") === before
    ? { works: true }
    : { works: false, reason: "the names were not swapped" };
};

function inodeOf(place: TrialDirectory, path: string): bigint {
  const fd = openAt(place.fd, path, OPEN.pathOnly);
  try {
    return statFd(fd).ino;
  } finally {
    close(fd);
  }
}

function fileSystemName(fd: number): string {
  return mountById(statFd(fd).mountId)?.fsType ?? "this file system";
}

function abilityFrom({ exitCode, signal, stderr }: RunResult, hint: string): Ability {
  if (exitCode === 0) return { works: true };
  const said = stderr.toString("utf8").trim();
  return { works: false, reason: said === "" ? `ended with ${signal ?? exitCode}` : said, hint };
}
