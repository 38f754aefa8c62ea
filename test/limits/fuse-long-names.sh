#!/bin/sh -e
# fuse-overlayfs ends when a file with a name of 255 bytes is written, because its own marks make names longer.
mkdir lower upper work merged && name=$(printf '%0255d' 7) && printf old > "lower/$name"
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
printf new > "merged/$name" || true
fails=0 && ls merged > listing 2>&1 || fails=1
umount merged
[ "$fails" = 1 ]
