import { type RelativePath, parentOf } from "../../model/byte-path.ts";
import { mkdirAt } from "../../platform/native/index.ts";

/** In a folder with many more names every rename takes twice as long. */
const NAMES_PER_FOLDER = 128;
const SLOT = /^(?:_[0-9a-z]+\/)?[0-9a-z]+/;
const GROUP = /^_[0-9a-z]+$/;

/** The place of the n-th step below the folder of staged entries; the last part alone is unique as well. */
export function slotName(index: number): RelativePath {
  const group = Math.floor(index / NAMES_PER_FOLDER);
  const name = index.toString(36);
  return (group === 0 ? name : `_${group.toString(36)}/${name}`) as RelativePath;
}

/** Makes the folders that the slots of so many steps lie in. */
export function makeSlotFolders(entriesFd: number, count: number): void {
  for (let index = NAMES_PER_FOLDER; index < count; index += NAMES_PER_FOLDER) {
    mkdirAt(entriesFd, parentOf(slotName(index)), 0o700);
  }
}

/** The folders that the slots of so many steps lie in, the folder of staged entries itself first. */
export function slotFolders(count: number): RelativePath[] {
  const folders: RelativePath[] = [];
  for (let index = 0; index === 0 || index < count; index += NAMES_PER_FOLDER) {
    folders.push(parentOf(slotName(index)));
  }
  return folders;
}

/** The slot that a staged place is or lies in. */
export function slotOfPlace(staged: RelativePath): RelativePath {
  return (SLOT.exec(staged)?.[0] ?? staged) as RelativePath;
}

/** Whether a folder below the staged entries only holds slots, and is not staged itself. */
export function isSlotFolder(path: RelativePath): boolean {
  return path === "" || GROUP.test(path);
}
