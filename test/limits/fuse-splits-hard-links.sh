#!/bin/sh -e
# fuse-overlayfs gives what was written through one name to the first name that it saw, and to no other.
mkdir lower upper work merged && printf old > lower/a && ln lower/a lower/b
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
ls -l merged > listing && printf new > merged/b
umount merged
[ "$(cat upper/a)" = new ] && [ ! -e upper/b ]
