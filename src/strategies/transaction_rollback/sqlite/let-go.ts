import { readdirSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

const DESCRIPTORS = "/proc/self/fd";

/**
 * Lets go of the files of closed connections. A connection of the library stays open behind the scenes, with all of its
 * files, until its last statement is collected, so this does not wait for that to happen by chance. Gives whether no file
 * is open any more.
 */
export async function letGo(): Promise<boolean> {
  for (const type of ["minor", "major"] as const) {
    if (!hasOpenFile()) return true;
    globalThis.gc?.({ type, execution: "sync" });
    // What was collected is closed afterwards.
    await setImmediate();
  }
  return !hasOpenFile();
}

function hasOpenFile(): boolean {
  try {
    return readdirSync(DESCRIPTORS).some(isFile);
  } catch {
    // Nobody knows.
    return true;
  }
}

function isFile(descriptor: string): boolean {
  try {
    const target = readlinkSync(`${DESCRIPTORS}/${descriptor}`);
    return target.startsWith("/") && !target.startsWith("/dev/") && !target.startsWith("/proc/");
  } catch {
    // The one by which the list was read.
    return false;
  }
}
