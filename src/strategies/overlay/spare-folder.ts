import { randomBytes } from "node:crypto";
import {
  OPEN,
  RENAME,
  linkFd,
  close,
  openAt,
  renameAt,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { findStat } from "./marks.ts";

/**
 * A private folder on the layers' file system in which entries are built, so that one rename puts each in place:
 * readers and a kill find the old state or the new, and whatever is left here means nothing.
 */
export class SpareFolder {
  readonly fd: number;

  /** The descriptor stays the caller's. */
  constructor(fd: number) {
    this.fd = fd;
  }

  /** A name that nobody uses. */
  newName(): string {
    return randomBytes(12).toString("hex");
  }

  /** Puts an entry of this folder in place of whatever is there. */
  putInPlace(spare: string, dirFd: number, name: string): void {
    if (findStat(dirFd, name) === null) {
      renameAt(this.fd, spare, dirFd, name, RENAME.noReplace);
      return;
    }
    renameAt(this.fd, spare, dirFd, name, RENAME.exchange);
    removeTree(this.fd, spare);
  }

  /** Takes an entry away from where it is, then removes it. */
  takeAway(dirFd: number, name: string): void {
    const spare = this.newName();
    renameAt(dirFd, name, this.fd, spare);
    removeTree(this.fd, spare);
  }

  /** A new open file under a spare name, with the group and default rights of the folder that it will be in. */
  newFile(dirFd: number, spare: string): number {
    let fd: number;
    try {
      fd = openAt(dirFd, ".", OPEN.writeOnly | OPEN.temporary, 0o666);
    } catch (error) {
      throwUnlessErrno(error, "ENOTSUP", "EISDIR");
      return openAt(this.fd, spare, OPEN.writeOnly | OPEN.create | OPEN.exclusive, 0o666);
    }
    try {
      linkFd(fd, this.fd, spare);
      return fd;
    } catch (error) {
      close(fd);
      throw error;
    }
  }
}
