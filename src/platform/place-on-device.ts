import { type BytePath, isWithin, joinPath, nameOf, toBytePath } from "../model/byte-path.ts";
import { mountById } from "./mount-table.ts";
import { AT, OPEN, close, openAt, readlinkAt, statFd, throwUnlessErrno } from "./native/index.ts";

/** Where something lies in its file system, whatever links and mounts lead there. */
export interface PlaceOnDevice {
  readonly device: string;
  readonly path: BytePath;
}

/** Finds the place of a path; of one that does not exist yet the place that it would have. Null where there is none. */
export function placeOnDevice(location: string): PlaceOnDevice | null {
  if (!location.startsWith("/")) return null;
  const path = toBytePath(location);
  const present = openedPlace(path);
  if (present !== null) return present;
  const name = nameOf(path);
  const folder = openedPlace((path.slice(0, -name.length) || "/") as BytePath);
  return folder && { ...folder, path: joinPath(folder.path, name) };
}

/** Whether one place is the other or lies inside it. */
export function doOverlap(a: PlaceOnDevice, b: PlaceOnDevice): boolean {
  return a.device === b.device && (isWithin(a.path, b.path) || isWithin(b.path, a.path));
}

function openedPlace(path: BytePath): PlaceOnDevice | null {
  let fd: number;
  try {
    fd = openAt(AT.workingDirectory, path, OPEN.pathOnly);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG");
    return null;
  }
  try {
    const mount = mountById(statFd(fd).mountId);
    if (mount === undefined) return null;
    const shown = readlinkAt(AT.workingDirectory, `/proc/self/fd/${fd}`);
    const inside = shown.slice(mount.mountPoint === "/" ? 1 : mount.mountPoint.length + 1);
    const root = mount.root === "/" ? "" : mount.root;
    const own = inside === "" ? root : `${root}/${inside}`;
    return { device: `${mount.devMajor}:${mount.devMinor}`, path: own as BytePath };
  } finally {
    close(fd);
  }
}
