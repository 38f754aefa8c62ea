#!/bin/sh -e
# What is written in place is gone: nothing on the disk holds the earlier content.
printf 'the earlier content' > file && printf new > file
! grep -rq 'the earlier content' .
