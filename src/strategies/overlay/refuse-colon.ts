import type { BytePath } from "../../model/byte-path.ts";
import { canonicalPath } from "./unmount.ts";

/**
 * Refuses a place in which fuse-overlayfs must not be started: it finds out the whole path of the upper layer by itself
 * and then takes a colon in it for the end of that path.
 */
export function refuseColon(directory: BytePath): void {
  if (canonicalPath(directory).includes(":"))
    throw new Error("fuse-overlayfs cannot write below a path with a colon");
}
