import { existsSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";

/** Where a resource is shown: at its real place. A mount at a link would come to lie at what that leads to outside. */
export function realLocation(location: string): string {
  return isAbsolute(location) && existsSync(location) ? realpathSync.native(location) : location;
}
