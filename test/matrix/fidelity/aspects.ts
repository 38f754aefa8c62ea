/** One row of the table: a folder of the awkward tree, and what programs do in it. */
export interface Aspect {
  /** Name of the row and, with dashes, of its folder. */
  readonly name: string;
  /** Only root can do this. */
  readonly byRoot?: boolean;
  /** Gets a sandbox of its own, because it takes everything else down where it fails. */
  readonly alone?: boolean;
  /** Times of its folders count for this row, not for the one about times. */
  readonly ownTimes?: boolean;
  /** A shell script that fills the folder; run by root, the folder then belongs to the user of the sandbox. */
  readonly plant: string;
  /** A shell script that changes it; run by the user of the sandbox. */
  readonly edit: string;
}

/** Times of the awkward tree: long ago, all nine digits. */
const OLD = "@981173106.123456789";
const OTHER = "@1001173106.987654321";

/** Every aspect of a tree that a copy easily loses. */
export const ASPECTS: readonly Aspect[] = [
  {
    name: "content",
    plant: `
      for f in overwritten appended truncated replaced removed; do printf 'old %s\\n' $f > $f; done`,
    edit: `
      printf 'NEW' | dd of=overwritten conv=notrunc status=none
      printf 'more\\n' >> appended
      truncate -s 3 truncated
      printf 'replaced\\n' > .tmp && mv .tmp replaced
      rm removed
      mkdir -p new/deep && printf 'new\\n' > new/deep/file`,
  },
  {
    name: "content, same size and time",
    plant: `printf 'one\\n' > sneaky`,
    edit: `printf 'two\\n' > sneaky && touch -d ${OLD} sneaky`,
  },
  { name: "mode of a file", plant: `printf x > f; chmod 644 f`, edit: `chmod 751 f` },
  { name: "mode of a folder", plant: `mkdir d; printf x > d/f`, edit: `chmod 750 d` },
  {
    name: "modes 0700 and 0400",
    plant: `
      mkdir -m 700 closed && printf x > closed/f && chmod 400 closed/f
      printf 'secret\\n' > secret && chmod 400 secret
      printf 'kept\\n' > kept && chmod 400 kept`,
    edit: `
      printf 'changed\\n' > .tmp && chmod 400 .tmp && mv -f .tmp secret
      printf y > closed/g && chmod 400 closed/g
      mkdir -m 700 new-closed`,
  },
  {
    name: "set-group-ID folder",
    plant: `
      mkdir team && printf x > team/f && chgrp -R 4321 team && chmod 2775 team`,
    edit: `printf y > team/f; printf z > team/g; mkdir team/sub`,
  },
  {
    name: "owner and group",
    byRoot: true,
    plant: `printf x > f; printf x > g; mkdir d; chown 1234:5678 g d`,
    edit: `chown 2345:6789 f; chgrp 77 d; printf y >> g`,
  },
  {
    name: "owner of a link",
    byRoot: true,
    plant: `ln -s f l; chown -h 1234:5678 l`,
    edit: `chown -h 77:77 l`,
  },
  {
    name: "time of a file, to the nanosecond",
    plant: `printf x > edited; printf x > touched; ln -s x link`,
    edit: `
      printf y > edited && touch -d ${OTHER} edited
      touch -d ${OTHER} touched
      touch -h -d ${OTHER} link`,
  },
  {
    name: "time of a folder",
    plant: `mkdir touched modified added; printf x > modified/f`,
    edit: `touch -d ${OTHER} touched; printf y > modified/f; printf y > added/f`,
  },
  {
    name: "symbolic links",
    plant: `
      printf x > f; mkdir d
      ln -s f to-file; ln -s d to-folder; ln -s nowhere broken; ln -s /absolute/nowhere absolute
      ln -s f removed`,
    edit: `
      ln -sfn d to-file; ln -sfn ./f to-folder; ln -sfn 'else where' broken
      rm removed; ln -s f new; ln -s ../symbolic-links/f up-and-down`,
  },
  {
    name: "hard links, untouched",
    plant: `printf x > a; ln a b; mkdir d; ln a d/c; printf y > beside`,
    edit: `printf z > beside`,
  },
  {
    name: "hard links, one name written",
    plant: `printf x > a; ln a b; mkdir d; ln a d/c`,
    edit: `printf 'written\\n' > b`,
  },
  {
    name: "hard links, new name",
    plant: `printf x > a; printf y > c`,
    edit: `ln a b; printf z > new; ln new new-too`,
  },
  {
    name: "hard links, name removed or split",
    plant: `printf x > a; ln a b; ln a c; printf y > p; ln p q`,
    edit: `rm b; cp p .tmp && mv .tmp p`,
  },
  {
    name: "extended attributes",
    plant: `
      printf x > f; printf x > g; mkdir d
      setfattr -n user.note -v old f; setfattr -n user.gone -v old g; setfattr -n user.note -v old d`,
    edit: `
      setfattr -n user.note -v new f; setfattr -n user.more -v 0x00ff f
      setfattr -x user.gone g; setfattr -n user.note -v new d
      printf x > new; setfattr -n user.note -v fresh new`,
  },
  {
    name: "attributes of root",
    byRoot: true,
    plant: `
      printf x > f; printf x > tool; setfattr -n trusted.note -v old f
      setfattr -n security.capability -v 0x0100000200040000000000000000000000000000 tool`,
    edit: `
      setfattr -n trusted.note -v new f
      printf x > new
      setfattr -n security.capability -v 0x0100000200040000000000000000000000000000 new`,
  },
  {
    name: "access control lists",
    plant: `
      printf x > f; printf x > g; mkdir d
      setfacl -m u:1234:rw f; setfacl -m g:77:r g; setfacl -d -m u:1234:rwx d`,
    edit: `
      setfacl -m u:1234:r f; setfacl -b g; setfacl -m u:77:rx d
      printf x > new; setfacl -m u:77:rw new; printf x > d/inherits`,
  },
  {
    name: "empty folders",
    plant: `mkdir -p gone/deeper stays; mkdir filled emptied; printf x > emptied/f`,
    edit: `rmdir gone/deeper gone; mkdir -p new/deeper; printf x > filled/f; rm emptied/f`,
  },
  {
    name: "folder replaced by one of the same name",
    plant: `mkdir -p d/sub; printf old > d/f; printf old > d/sub/g; printf old > d/only-old`,
    edit: `rm -r d; mkdir d; printf new > d/f; printf new > d/only-new`,
  },
  {
    name: "file, folder and link in each other's place",
    plant: `
      for n in file-folder file-link; do printf x > $n; done
      for n in folder-file folder-link; do mkdir $n; printf x > $n/f; done
      for n in link-file link-folder; do ln -s nowhere $n; done`,
    edit: `
      rm file-folder && mkdir file-folder && printf y > file-folder/g
      rm file-link && ln -s nowhere file-link
      rm -r folder-file && printf y > folder-file
      rm -r folder-link && ln -s nowhere folder-link
      rm link-file && printf y > link-file
      rm link-folder && mkdir link-folder && printf y > link-folder/g`,
  },
  {
    name: "renamed folder",
    plant: `
      mkdir -p old/sub other; printf x > old/f; printf y > old/sub/g; ln -s f old/l
      mkdir chain; printf z > chain/h`,
    edit: `
      mv old new; printf changed > new/sub/g; printf added > new/added
      mv chain other/chain; mkdir chain; printf again > chain/h`,
  },
  {
    name: "renamed file",
    plant: `printf x > a; printf y > b; mkdir d; printf z > c`,
    edit: `mv a d/moved; mv b c`,
  },
  {
    name: "names with newline, dash, not UTF-8",
    plant: `
      nl=$(printf 'new\\nline'); raw=$(printf 'raw\\377\\376')
      for n in "$nl" "$raw" '-dash' ' space ' 'back\\slash'; do printf x > "./$n"; done
      mkdir "./d$raw"; printf x > "./d$raw/f"`,
    edit: `
      nl=$(printf 'new\\nline'); raw=$(printf 'raw\\377\\376')
      for n in "$nl" "$raw" '-dash'; do printf y > "./$n"; done
      rm './ space '; mv './back\\slash' "./moved$raw"
      printf y > "./d$raw/f"; mkdir "./new$raw"; printf z > "./new$raw/$nl"`,
  },
  {
    name: "names of 255 bytes",
    alone: true,
    ownTimes: true,
    plant: `
      for n in 1 2 3; do printf x > "$(printf '%0255d' $n)"; done`,
    edit: `
      printf y > "$(printf '%0255d' 1)"; rm "$(printf '%0255d' 2)"
      mv "$(printf '%0255d' 3)" "$(printf '%0255d' 4)"; mkdir "$(printf '%0255d' 5)"`,
  },
  {
    name: "sparse file",
    plant: `truncate -s 8M sparse; printf end >> sparse; truncate -s 4M untouched`,
    edit: `printf start | dd of=sparse conv=notrunc status=none; truncate -s 16M new; printf x >> new`,
  },
  {
    name: "special files, untouched",
    plant: `mkfifo pipe; printf x > f; perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1)'`,
    edit: `printf y > f`,
  },
  {
    name: "special files, removed",
    ownTimes: true,
    plant: `mkfifo pipe; printf x > f`,
    edit: `rm -f pipe`,
  },
  { name: "special files, new", plant: `printf x > f`, edit: `mkfifo new; printf y > f` },
];

/** The folder of a row. */
export function folderOf({ name }: Aspect): string {
  return name.replaceAll(/[^a-zA-Z0-9]+/g, "-");
}

/** One script out of the parts of all aspects. A program that fails says so; the others work on. */
export function scriptOf(aspects: readonly Aspect[], part: "plant" | "edit"): string {
  const steps = aspects.map((aspect) => {
    const folder = folderOf(aspect);
    const make = part === "plant" ? `mkdir ${folder} && ` : "";
    return `( ${make}cd ${folder}\n${aspect[part]}\n)`;
  });
  const settle =
    part === "plant"
      ? `find . -depth -exec touch -h -d ${OLD} {} +`
      : "find . -newermt 2005-01-01 -exec touch -h -d @1111111111.111111111 {} +";
  return ["umask 022", ...steps, settle].join("\n");
}
