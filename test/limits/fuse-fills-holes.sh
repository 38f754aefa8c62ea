#!/bin/sh -e
# fuse-overlayfs fills the holes of a sparse file when it copies it up.
mkdir lower upper work merged && truncate -s 8M lower/f
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
printf new | dd of=merged/f conv=notrunc status=none
umount merged
[ "$(stat -c %b lower/f)" = 0 ] && [ "$(stat -c %b upper/f)" -gt 8000 ]
