#!/bin/sh -e
# The kernel's overlay copies one name of a hard-linked file up; the other names stay what they were.
mkdir lower upper work merged && printf old > lower/a && ln lower/a lower/b
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,redirect_dir=on,index=off merged
printf new > merged/b
seen=$(cat merged/a merged/b)
umount merged
[ "$seen" = oldnew ]
