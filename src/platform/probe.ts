import { release } from "node:os";
import { describeThrown } from "../errors/index.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Ability } from "./ability.ts";
import { isErrno, loadNative } from "./native/index.ts";
import { trialDirectory } from "./probe-directory.ts";
import {
  type Trial,
  tryExchange,
  tryFuseOverlay,
  tryKernelOverlay,
  tryReflink,
  tryUserNamespaceOverlay,
} from "./probe-trials.ts";

/** The Debian packages of programs that trials start. */
const PACKAGES: Readonly<Record<string, string>> = {
  unshare: "util-linux mount",
  fusermount3: "fuse3",
};

/** What this machine can do at one directory. */
export interface PlatformReport {
  readonly kernel: string;
  readonly uid: number;
  /** The system calls that Node lacks; nothing can be changed without them. */
  readonly nativeCalls: Ability;
  /** Overlay mounts of the kernel, made by this user directly. */
  readonly kernelOverlay: Ability;
  /** Overlay mounts of the kernel inside a user namespace, for one command at a time. */
  readonly userNamespaceOverlay: Ability;
  /** Overlay mounts by the program fuse-overlayfs. */
  readonly fuseOverlay: Ability;
  /** Copies that share their content until one side is written. */
  readonly reflink: Ability;
  /** Swapping two names in one step. */
  readonly exchange: Ability;
}

/** Whether the system calls that Node lacks can be made; loads them. */
export function probeNativeCalls(): Ability {
  try {
    loadNative();
    return { works: true };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const reason = [error, ...(cause === undefined ? [] : [cause])].map(describeThrown).join(": ");
    return { works: false, reason, hint: "reinstall the package on 64-bit Linux" };
  }
}

/**
 * Tries out, in a private folder inside the given directory, what can be done there. Each trial ends after `timeoutMs`
 * at the latest, and nothing is left behind: no file, no mount, no process.
 */
export async function probePlatform(
  directory: BytePath,
  options: { readonly timeoutMs?: number } = {},
): Promise<PlatformReport> {
  const { timeoutMs = 5_000 } = options;
  const nativeCalls = probeNativeCalls();
  const attempt = async (trial: Trial): Promise<Ability> => {
    if (!nativeCalls.works) return { works: false, reason: "system calls cannot be made" };
    try {
      await using place = await trialDirectory(directory);
      return await trial(place, timeoutMs);
    } catch (error) {
      return { works: false, ...(missingProgram(error) ?? { reason: describeThrown(error) }) };
    }
  };
  return {
    kernel: release(),
    uid: process.getuid?.() ?? -1,
    nativeCalls,
    kernelOverlay: await attempt(tryKernelOverlay),
    userNamespaceOverlay: await attempt(tryUserNamespaceOverlay),
    fuseOverlay: await attempt(tryFuseOverlay),
    reflink: await attempt(tryReflink),
    exchange: await attempt(tryExchange),
  };
}

/** What to install when a program that a trial starts is not there. */
function missingProgram(error: unknown): { reason: string; hint: string } | null {
  if (!isErrno(error, "ENOENT") || !error.syscall?.startsWith("spawn ")) return null;
  const program = error.syscall.slice("spawn ".length);
  return {
    reason: `the program ${program} is not installed`,
    hint: `apt-get install ${PACKAGES[program] ?? program}`,
  };
}
