import { type RelativePath, joinPath, nameOf } from "../../model/byte-path.ts";
import {
  OPEN,
  close,
  getXattr,
  linkAt,
  listXattrs,
  mkdirAt,
  openAt,
  openBeneath,
  readDirectory,
  readlinkAt,
  symlinkAt,
} from "../../platform/native/index.ts";
import { parentOf } from "../../model/byte-path.ts";
import { copyFileTo } from "../../tree/copy-entry.ts";
import { attributesOf, setAttributes, setLinkAttributes } from "../../tree/entry-attributes.ts";
import { readFolderAttributes } from "../../tree/folder-attributes.ts";
import { findEntry, isOverlayMark } from "../../tree/read-entry.ts";
import { type Dialect, findStat, makeWhiteout, setMark } from "./marks.ts";
import { readBaseMark, writeBaseMark, pathKey } from "./base-mark.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const SPECIAL_BITS = 0o7000;

/**
 * Copies a layer that a live mount still uses, with all marks, into a new folder. Entries that vanish meanwhile are
 * left out. Costs what the layer holds.
 */
export function cloneLayer(layersFd: number, from: string, to: string, dialect: Dialect): void {
  mkdirAt(layersFd, to, 0o700);
  const sourceFd = openAt(layersFd, from, DIRECTORY);
  const targetFd = openAt(layersFd, to, DIRECTORY);
  try {
    new LayerCloner(targetFd, dialect).folder(sourceFd, targetFd, "" as RelativePath);
  } finally {
    close(sourceFd);
    close(targetFd);
  }
}

class LayerCloner {
  readonly #rootFd: number;
  readonly #dialect: Dialect;
  readonly #links = new Map<string, RelativePath>();

  constructor(rootFd: number, dialect: Dialect) {
    this.#rootFd = rootFd;
    this.#dialect = dialect;
  }

  folder(sourceFd: number, targetFd: number, path: RelativePath): void {
    for (const { name } of readDirectory(sourceFd)) {
      this.#entry(sourceFd, targetFd, joinPath(path, name));
    }
    setAttributes(targetFd, readFolderAttributes(sourceFd));
    copyMarks(sourceFd, targetFd);
  }

  #entry(sourceFd: number, targetFd: number, path: RelativePath): void {
    const name = nameOf(path);
    const entry = findEntry(sourceFd, name);
    if (entry === null) return;
    const key = `${entry.ino}`;
    const first = entry.nlink > 1 && entry.type !== "directory" ? this.#links.get(key) : undefined;
    if (first !== undefined) return this.#link(first, targetFd, name);
    this.#links.set(key, path);
    switch (entry.type) {
      case "directory":
        return this.#subfolder(sourceFd, targetFd, path);
      case "symlink":
        symlinkAt(readlinkAt(sourceFd, name), targetFd, name);
        setLinkAttributes(targetFd, name, attributesOf(entry));
        return;
      case "file":
        copyFileTo(sourceFd, name, targetFd, name, { reflink: "auto" });
        return this.#fileMarks(sourceFd, targetFd, name, entry.mode & SPECIAL_BITS);
      case "special": {
        const stat = findStat(sourceFd, name);
        const isWhiteout = stat?.type === "characterDevice" && stat.rdevMajor === 0;
        // Other special files are never part of a commit, and a copy of a socket is none.
        if (isWhiteout && stat.rdevMinor === 0) makeWhiteout(targetFd, name);
      }
    }
  }

  #subfolder(sourceFd: number, targetFd: number, path: RelativePath): void {
    mkdirAt(targetFd, nameOf(path), 0o700);
    const from = openAt(sourceFd, nameOf(path), DIRECTORY);
    const to = openAt(targetFd, nameOf(path), DIRECTORY);
    try {
      this.folder(from, to, path);
    } finally {
      close(from);
      close(to);
    }
  }

  /** Copies carry no special bits; a mark remembers them. */
  #fileMarks(sourceFd: number, targetFd: number, name: string, specialBits: number): void {
    const from = openAt(sourceFd, name, OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking);
    const to = openAt(targetFd, name, OPEN.readOnly | OPEN.noFollow);
    try {
      copyMarks(from, to);
      if (specialBits === 0) return;
      const mark = readBaseMark(to, this.#dialect);
      writeBaseMark(to, this.#dialect, {
        ...(mark ?? { ino: 0n, handle: null, pathKey: pathKey("" as RelativePath) }),
        specialBits,
      });
    } finally {
      close(from);
      close(to);
    }
  }

  #link(first: RelativePath, targetFd: number, name: string): void {
    const fd = openBeneath(this.#rootFd, parentOf(first), DIRECTORY);
    try {
      linkAt(fd, nameOf(first), targetFd, name);
    } finally {
      close(fd);
    }
  }
}

function copyMarks(sourceFd: number, targetFd: number): void {
  for (const name of listXattrs(sourceFd)) {
    const value = isOverlayMark(name) ? getXattr(sourceFd, name) : undefined;
    if (value !== undefined) setMark(targetFd, name, value);
  }
}
