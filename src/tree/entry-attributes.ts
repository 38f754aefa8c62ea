import {
  chownAt,
  fchmod,
  fchown,
  futimens,
  listXattrs,
  removeXattr,
  setXattr,
  setXattrAt,
  throwUnlessErrno,
  utimensAt,
} from "../platform/native/index.ts";
import { isOverlayMark } from "./read-entry.ts";
import type { TreeEntry } from "./tree-entry.ts";

const PLAIN_BITS = 0o777;
/** Tells the kernel to leave the owner as it is. */
const SAME_OWNER = 0xffff_ffff;
/** The kernel and security modules give these to every new file by themselves; nobody may take them away. */
const KERNEL_OWNED = /^(?:security\.(?!capability$)|system\.(?!posix_acl_))/;

/** What an entry is given besides content and name. */
export interface EntryAttributes {
  /** Permission bits including setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Null leaves the time as it is. */
  readonly atimeNs: bigint | null;
  readonly mtimeNs: bigint | null;
  readonly xattrs: TreeEntry["xattrs"];
}

/** What could not be kept because the process may not set it or the file system has no room for it. */
export interface AttributeLoss {
  readonly owner: boolean;
  readonly xattrs: readonly string[];
}

/** The attributes that a recorded entry had. */
export function attributesOf(entry: TreeEntry): EntryAttributes {
  const { mode, uid, gid, mtimeNs, xattrs } = entry;
  return { mode, uid, gid, atimeNs: null, mtimeNs, xattrs };
}

/** The same attributes without setuid, setgid and sticky. */
export function withoutSpecialBits(attributes: EntryAttributes): EntryAttributes {
  return attributes.mode <= PLAIN_BITS
    ? attributes
    : { ...attributes, mode: attributes.mode & PLAIN_BITS };
}

/**
 * Gives an open file or directory exactly these attributes; those that it has beyond them are removed.
 * Owner first, because the kernel clears special bits and capabilities with it; times last.
 */
export function setAttributes(fd: number, attributes: EntryAttributes): AttributeLoss {
  const { uid, gid } = attributes;
  const owner = tryOwner((owner) => fchown(fd, owner, gid), uid);
  const xattrs = replaceXattrs(fd, attributes.xattrs ?? {});
  fchmod(fd, attributes.mode);
  futimens(fd, attributes.atimeNs, attributes.mtimeNs);
  return { owner, xattrs };
}

/** Gives a symbolic link its owner, attributes and times; modes of links do not exist. */
export function setLinkAttributes(
  dirFd: number,
  name: string,
  attributes: EntryAttributes,
): AttributeLoss {
  const { uid, gid } = attributes;
  const owner = tryOwner((owner) => chownAt(dirFd, name, owner, gid), uid);
  const lost: string[] = [];
  for (const [attribute, value] of Object.entries(attributes.xattrs ?? {})) {
    tryXattr(lost, attribute, () =>
      setXattrAt(dirFd, name, attribute, Buffer.from(value, "latin1")),
    );
  }
  utimensAt(dirFd, name, attributes.atimeNs, attributes.mtimeNs);
  return { owner, xattrs: lost };
}

function replaceXattrs(fd: number, wanted: Readonly<Record<string, string>>): string[] {
  const lost: string[] = [];
  // Present ones may be inherited from a folder's default ACL, or belong to the state before.
  for (const attribute of listXattrs(fd)) {
    if (attribute in wanted || KERNEL_OWNED.test(attribute)) continue;
    // A trusted mark of an overlay is invisible to those who cannot remove it.
    removeXattr(fd, attribute);
  }
  for (const [attribute, value] of Object.entries(wanted)) {
    if (isOverlayMark(attribute)) continue;
    tryXattr(lost, attribute, () => setXattr(fd, attribute, Buffer.from(value, "latin1")));
  }
  return lost;
}

/** Gives owner and group, or else the group alone; true when something could not be given. */
export function tryOwner(set: (uid: number) => void, uid: number): boolean {
  try {
    set(uid);
    return false;
  } catch (error) {
    throwUnlessErrno(error, "EPERM", "EINVAL");
    if (uid !== SAME_OWNER && uid !== process.geteuid?.()) tryOwner(set, SAME_OWNER);
    return true;
  }
}

function tryXattr(lost: string[], attribute: string, set: () => void): void {
  try {
    set();
  } catch (error) {
    throwUnlessErrno(error, "EPERM", "EACCES", "ENOTSUP", "EINVAL");
    lost.push(attribute);
  }
}
