#!/bin/sh -e
# An ordinary user's copy of another user's file is the ordinary user's own.
printf x > theirs && chown 77:77 theirs && mkdir -m 777 copies && chmod 755 .
setpriv --reuid=65534 --regid=65534 --clear-groups cp -a theirs copies
[ "$(stat -c %u copies/theirs)" = 65534 ]
