#!/bin/sh -e
# A FIFO cannot be looked at or copied like a file: whoever opens it waits for somebody who writes.
mkfifo pipe
status=0 && timeout 1 cat pipe || status=$?
[ "$status" = 124 ]
