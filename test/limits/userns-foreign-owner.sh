#!/bin/sh -e
# Without root an overlay shows a file of another user as nobody's, and cannot change it.
mkdir -p lower upper work merged && printf x > lower/f && chown -R 1234:1234 . && chmod -R a+rwX .
run="setpriv --reuid=1234 --regid=1234 --clear-groups unshare --user --map-current-user --keep-caps --mount"
chown 77:77 lower/f
$run sh -ec 'mount -t overlay overlay -o userxattr,lowerdir=lower,upperdir=upper,workdir=work merged
  [ "$(stat -c %u merged/f)" = 65534 ] && ! mv merged/f merged/g'
