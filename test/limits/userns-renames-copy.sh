#!/bin/sh -e
# Without root an overlay cannot rename a folder of the base; `mv` copies it, entry by entry.
mkdir -p lower/d upper work merged && touch lower/d/f && chown -R 65534:65534 . && chmod 755 .
run="setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-current-user --keep-caps --mount"
$run sh -ec 'mount -t overlay overlay -o userxattr,lowerdir=lower,upperdir=upper,workdir=work merged
  ! perl -e "rename(\"merged/d\", \"merged/e\") or exit 1" && mv merged/d merged/e && [ -e merged/e/f ]'
