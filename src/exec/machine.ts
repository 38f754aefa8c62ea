import { lstatSync, realpathSync, statSync } from "node:fs";
import { homedir, release, tmpdir } from "node:os";
import { displayPath, isTextPath } from "../model/byte-path.ts";
import { readMountTable } from "../platform/mount-table.ts";
import { listeningSockets } from "./listening-sockets.ts";
import type { RealMount, ViewRequest } from "./view.ts";

/** What a view has to know of the machine and of who runs the command. */
export function inspectForView(): Pick<
  ViewRequest,
  "isRoot" | "home" | "temporary" | "mounts" | "sockets" | "canSpareSyncs"
> {
  return {
    isRoot: process.geteuid?.() === 0,
    home: folderAt(homedir()),
    temporary: [...new Set([tmpdir(), "/tmp", "/var/tmp"].flatMap((path) => folderAt(path) ?? []))],
    mounts: realMounts(),
    sockets: listeningSockets(),
    canSpareSyncs: isAtLeast(release(), 5, 10),
  };
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/** The folder itself, links resolved; null where there is none, or where it is the root of everything. */
function folderAt(path: string): string | null {
  try {
    const found = realpathSync(path);
    return found !== "/" && statSync(found).isDirectory() ? found : null;
  } catch {
    // A user without a home has none to protect.
    return null;
  }
}

/** The mounts that can be seen, one for each place. */
function realMounts(): RealMount[] {
  const found = new Map<string, RealMount>();
  for (const { mountPoint, options } of readMountTable()) {
    if (!isTextPath(mountPoint)) continue;
    const path = displayPath(mountPoint);
    const isFolder = isFolderAt(path);
    if (isFolder === null) continue;
    const flags = options.filter((option) => option !== "rw" && option !== "ro");
    found.set(path, { path, isFolder, isReadOnly: options.includes("ro"), flags });
  }
  return [...found.values()];
}

function isFolderAt(path: string): boolean | null {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    // Hidden below another mount, or closed to us: then the command cannot reach it either.
    return null;
  }
}
