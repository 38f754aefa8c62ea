import type { Column } from "./columns.ts";

/** Why some cells of the table are not ticked. */
export interface Limit {
  /** The script of plain tools in `test/limits/` that shows it. */
  readonly script: string;
  readonly text: string;
  readonly rows: readonly string[];
  concerns(column: Column): boolean;
}

const isMode =
  (...modes: readonly string[]) =>
  ({ properties }: Column): boolean =>
    modes.includes(String(properties?.["mode"]));
const isFuse = isMode("fuse");
const hasCopy = (column: Column): boolean =>
  isMode("copy")(column) || ["copy_on_write", "filesystem_copy"].includes(column.strategyName);

/** Every limit, and the cells that it is the reason for. */
export const LIMITS: readonly Limit[] = [
  {
    script: "special-files-have-no-content.sh",
    text: "FIFOs, sockets and devices are never opened, copied or published. A new one stays in the sandbox.",
    rows: ["special files, new"],
    concerns: ({ noUndo }) => noUndo !== true,
  },
  {
    script: "special-files-have-no-content.sh",
    text: "Special files are not in a copy, so they cannot be removed there; the real ones stay.",
    rows: ["special files, removed"],
    concerns: hasCopy,
  },
  {
    script: "overlay-splits-hard-links.sh",
    text: "The kernel's overlay splits a hard link when one of its names is written: the others keep the old content.",
    rows: ["hard links, one name written"],
    concerns: isMode("kernel", "userns"),
  },
  {
    script: "userns-unmapped-acl.sh",
    text: "In a user namespace an access control list cannot name users and groups that are not mapped there.",
    rows: ["access control lists"],
    concerns: isMode("userns"),
  },
  {
    script: "fuse-splits-hard-links.sh",
    text: "fuse-overlayfs splits a hard link when one of its names is written, and gives the content to the first name that it saw.",
    rows: ["hard links, one name written"],
    concerns: isFuse,
  },
  {
    script: "fuse-folder-time.sh",
    text: "fuse-overlayfs changes the time of a folder when it copies an entry of it up.",
    rows: ["time of a folder"],
    concerns: isFuse,
  },
  {
    script: "fuse-link-time.sh",
    text: "fuse-overlayfs changes the time of a symbolic link when it copies it up.",
    rows: ["owner of a link"],
    concerns: isFuse,
  },
  {
    script: "fuse-set-group-id.sh",
    text: "fuse-overlayfs takes the set-group-ID bit from a folder when it copies it up.",
    rows: ["set-group-ID folder"],
    // An ordinary user's folders are given it back.
    concerns: (column) => isFuse(column) && column.user === "root",
  },
  {
    script: "fuse-default-acl.sh",
    text: "fuse-overlayfs applies the umask to a new file although the folder has a default list.",
    rows: ["access control lists"],
    concerns: isFuse,
  },
  {
    script: "fuse-long-names.sh",
    text: "fuse-overlayfs ends when a file with a name of 255 bytes is written; what was done before is kept.",
    rows: ["names of 255 bytes"],
    concerns: isFuse,
  },
  {
    script: "fuse-fills-holes.sh",
    text: "fuse-overlayfs fills the holes of a sparse file when it copies it up.",
    rows: ["sparse file"],
    concerns: isFuse,
  },
];

/** What the table has no row for, because no strategy can do anything about it. */
export const BEYOND: readonly Pick<Limit, "script" | "text">[] = [
  {
    script: "in-place-has-no-undo.sh",
    text: "`none` works in place: a commit is always exact, and nothing can be taken back.",
  },
  {
    script: "ordinary-users-give-nothing-away.sh",
    text: "An ordinary user cannot give files away: a file of another user that is changed, or renamed in a copy, is published as the user's own.",
  },
  {
    script: "userns-foreign-owner.sh",
    text: "Without root the kernel's overlay shows files of others as nobody's and cannot change them.",
  },
  {
    script: "userns-renames-copy.sh",
    text: "Without root the kernel's overlay cannot rename a folder of the base; programs copy it, with the same result.",
  },
  {
    script: "fuse-link-loops.sh",
    text: "fuse-overlayfs cannot list a folder in which a folder with another one in it has replaced a link that leads to itself. Calls of the library show it, and commits are exact.",
  },
  {
    script: "fuse-remade-folders.sh",
    text: "A live mount of fuse-overlayfs can show a removed folder of the base again, where the folder around it was removed and made anew and a file that took its name is removed. Calls of the library and fresh mounts do not, and commits are exact.",
  },
];

/** The limit that is the reason for a cell; undefined for a tick. */
export function limitOf(column: Column, row: string): Limit | undefined {
  return LIMITS.find(({ rows, concerns }) => rows.includes(row) && concerns(column));
}
