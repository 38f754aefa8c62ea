#!/bin/sh -e
# fuse-overlayfs takes the set-group-ID bit from a folder when it copies it up.
mkdir lower upper work merged lower/d && printf old > lower/d/f && chmod 2775 lower/d
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
printf new > merged/d/f
umount merged
[ "$(stat -c %a lower/d)" = 2775 ] && [ "$(stat -c %a upper/d)" = 775 ]
