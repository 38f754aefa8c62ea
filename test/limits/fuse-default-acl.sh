#!/bin/sh -e
# fuse-overlayfs applies the umask to a new file although the folder's default list says otherwise.
umask 022 && mkdir lower upper work merged lower/d && setfacl -d -m u:1234:rwx lower/d
fuse-overlayfs -o lowerdir=lower,upperdir=upper,workdir=work merged
touch merged/d/f
umount merged
touch lower/d/f
[ "$(stat -c %a lower/d/f)" = 664 ] && [ "$(stat -c %a upper/d/f)" = 644 ]
