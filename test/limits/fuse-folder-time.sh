#!/bin/sh -e
# fuse-overlayfs does not keep the time of a folder when it copies an entry of it up.
mkdir lower upper work merged lower/d && printf old > lower/d/f && touch -d @1 lower/d
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
printf new >> merged/d/f
umount merged
[ "$(stat -c %Y lower/d)" = 1 ] && [ "$(stat -c %Y upper/d)" != 1 ]
