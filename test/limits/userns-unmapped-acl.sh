#!/bin/sh -e
# In a user namespace an access control list cannot name a user who is not mapped there.
touch file && chown 65534:65534 file && chmod 755 .
setpriv --reuid=65534 --regid=65534 --clear-groups setfacl -m u:1234:r file
run="setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-current-user"
! $run setfacl -m u:77:r file
