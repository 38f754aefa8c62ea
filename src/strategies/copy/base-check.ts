import { type RelativePath, ancestorsOf } from "../../model/byte-path.ts";
import { FIELD, type Manifest } from "../../tree/scan/manifest.ts";
import { sameIdentity } from "../../tree/tree-entry.ts";
import type { BaseCheck } from "../../tree/workspace.ts";

/** Verifies real entries against the identities that were recorded while copying. */
export function manifestCheck(manifest: Manifest): BaseCheck {
  const isSameFolder = (path: RelativePath, ino: bigint): boolean => {
    const record = manifest.find(path);
    return record < 0 || BigInt(manifest.wide(record, FIELD.baseIno)) === ino;
  };
  return {
    verify(path, real, _before, parents, isRemoval) {
      const isMoved = ancestorsOf(path).some((folder, at) => {
        const parent = parents[at];
        return parent !== undefined && !isSameFolder(folder, parent.ino);
      });
      if (isMoved) return "ancestorReplaced";
      const record = manifest.find(path);
      if (record < 0) return real === null ? null : "exists";
      if (real === null) return "missing";
      const base = manifest.baseEntry(record);
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
