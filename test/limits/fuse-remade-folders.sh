#!/bin/sh -e
# fuse-overlayfs shows a removed folder again where a file that took its name in a folder made anew is removed.
mkdir -p lower/a/inside lower/gone upper work merged
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
rm -r merged/gone merged/a && mkdir merged/a && echo text > merged/a/inside
ls -f merged merged/a > listing
rm merged/a/inside
shows=0 && [ -d merged/a/inside ] && shows=1
umount merged
[ "$shows" = 1 ]
