import type { ChangeKind } from "../index.ts";

/** Gives everything that was touched after the sample was planted one time, so that two trees can be compared. */
export const SETTLE_TIMES =
  "find . -newermt 2005-01-01 -exec touch -h -d @1111111111.987654321 {} +";

/** Edits of every ordinary kind to the usual sample, made by ordinary programs. */
export const EDITS = `
printf 'delta\\n' >> a.txt
printf X | dd of=data.bin conv=notrunc status=none
chmod 640 private
rm docs/guide.md
rmdir docs/empty
mv bin/tool bin/renamed
mkdir -p new/empty
printf 'new\\n' > new/file.txt
ln -s ../a.txt new/link
ln -sfn docs link
rm -r deep && printf 'now a file\\n' > deep
rm zero && mkdir zero
${SETTLE_TIMES}
`;

/** What a diff has to say about `EDITS`. */
export const EDITED: Readonly<Record<string, ChangeKind>> = {
  "a.txt": "modified",
  "bin/renamed": "added",
  "bin/tool": "deleted",
  "data.bin": "modified",
  deep: "typeChanged",
  "deep/er": "deleted",
  "deep/er/leaf.txt": "deleted",
  "docs/empty": "deleted",
  "docs/guide.md": "deleted",
  link: "linkChanged",
  new: "added",
  "new/empty": "added",
  "new/file.txt": "added",
  "new/link": "added",
  private: "modeChanged",
  zero: "typeChanged",
};

/** Edits of the second half of a cycle: other paths, and some of the same. */
export const MORE_EDITS = `
printf 'epsilon\\n' >> a.txt
rm -rf new docs
mkdir docs && printf 'replaced\\n' > docs/other.md
chmod 700 bin
ln -sfn a.txt link-to-docs
${SETTLE_TIMES}
`;
