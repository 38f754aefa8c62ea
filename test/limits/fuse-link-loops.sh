#!/bin/sh -e
# fuse-overlayfs cannot list a folder in which a folder with another one in it has replaced a link that leads to itself.
mkdir -p lower/in upper/in/link/deeper work merged && ln -s link lower/in/link
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
fails=0 && ls merged/in > listing 2>&1 || fails=1
umount merged
[ "$fails" = 1 ]
