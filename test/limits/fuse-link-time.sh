#!/bin/sh -e
# fuse-overlayfs does not keep the time of a symbolic link when it copies it up.
mkdir lower upper work merged && ln -s target lower/link && touch -h -d @1 lower/link
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
chown -h 77:77 merged/link
umount merged
[ "$(stat -c %Y lower/link)" = 1 ] && [ "$(stat -c %Y upper/link)" != 1 ]
