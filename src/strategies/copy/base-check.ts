import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import { type TreeEntry, sameIdentity } from "../../tree/tree-entry.ts";
import type { BaseCheck } from "../../tree/workspace.ts";

/** Verifies real entries against the identities that they had when the workspace was made; null for none. */
export function baseCheckBy(baseOf: (path: RelativePath) => TreeEntry | null): BaseCheck {
  return {
    verify(path, real, _before, parents, isRemoval) {
      const isMoved = ancestorsOf(path).some((folder, at) => {
        const [parent, before] = [parents[at], baseOf(folder)];
        return parent !== undefined && before !== null && before.ino !== parent.ino;
      });
      if (isMoved) return "ancestorReplaced";
      const base = baseOf(path);
      if (base === null) return real === null ? null : "exists";
      if (real === null) return "missing";
      if (real.type !== "directory" || base.type !== "directory" || isRemoval) {
        return sameIdentity(real, base) ? null : "changed";
      }
      const isSame =
        real.ino === base.ino &&
        real.mode === base.mode &&
        real.uid === base.uid &&
        real.gid === base.gid;
      return isSame ? null : "changed";
    },
  };
}
