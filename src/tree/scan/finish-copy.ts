import type { BytePath } from "../../model/byte-path.ts";
import { nameOf, parentOf } from "../../model/byte-path.ts";
import { MODE, StatBuffer, linkAt } from "../../platform/native/index.ts";
import { setAttributes, withoutSpecialBits } from "../entry-attributes.ts";
import { readFolderAttributes } from "../folder-attributes.ts";
import { openShared } from "./copy-entries.ts";
import { FIELD, FLAG, type Manifest } from "./manifest.ts";
import { withFolder, withRoot } from "./open-directory.ts";
import type { SharedManifest } from "./plan-copy.ts";

/** What is left to do once all files are copied. */
export interface FinishRequest {
  readonly source: BytePath;
  readonly target: BytePath;
  readonly manifest: SharedManifest;
}

/** Links further names of files, then gives folders their attributes, deepest first, the root last. */
export function finishCopy(request: FinishRequest): void {
  const manifest = openShared(request.manifest);
  withRoot(request.source, (sourceFd) => {
    withRoot(request.target, (targetFd) => {
      const stat = new StatBuffer();
      linkFurtherNames(manifest, targetFd, stat);
      // Records of folders come after their parents, so backwards means deepest first.
      for (let record = manifest.count - 1; record >= 0; record--) {
        if (isCopiedFolder(manifest, record)) {
          finishFolder(manifest, record, sourceFd, targetFd, stat);
        }
      }
    });
  });
}

function isCopiedFolder(manifest: Manifest, record: number): boolean {
  const type = manifest.get(record, FIELD.mode) & MODE.typeMask;
  return type === MODE.directory && !manifest.has(record, FLAG.skipped);
}

function linkFurtherNames(manifest: Manifest, targetFd: number, stat: StatBuffer): void {
  const linked = new Set<number>();
  for (let record = 0; record < manifest.count; record++) {
    const first = manifest.get(record, FIELD.group) - 1;
    if (first < 0) continue;
    const [from, to] = [manifest.path(first), manifest.path(record)];
    withFolder(targetFd, parentOf(from), (fromFd) => {
      withFolder(targetFd, parentOf(to), (toFd) => linkAt(fromFd, nameOf(from), toFd, nameOf(to)));
    });
    linked.add(first).add(record);
  }
  for (const record of linked) {
    const path = manifest.path(record);
    withFolder(targetFd, parentOf(path), (fd) => stat.readAt(fd, nameOf(path)));
    manifest.setCopy(record, stat);
  }
}

function finishFolder(
  manifest: Manifest,
  record: number,
  sourceFd: number,
  targetFd: number,
  stat: StatBuffer,
): void {
  const path = manifest.path(record);
  const attributes = withFolder(sourceFd, path, readFolderAttributes);
  withFolder(targetFd, path, (fd) => {
    const recorded = { ...attributes, mtimeNs: manifest.timeNs(record, FIELD.baseMtime) };
    setAttributes(fd, withoutSpecialBits(recorded));
    stat.readFd(fd);
    manifest.setCopy(record, stat);
  });
}
