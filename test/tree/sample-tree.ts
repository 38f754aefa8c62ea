import { execFileSync } from "node:child_process";

/** Runs a shell script of the test in a folder; fails the test when the script fails. */
export function shell(folder: string, script: string): string {
  return execFileSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: folder,
    encoding: "latin1",
  });
}

/** A small tree with every kind of entry, old times and odd modes. */
export const AWKWARD_TREE = `
  mkdir -p plain/deep empty closed links
  printf 'alpha\\n' > plain/a.txt
  printf 'beta\\n' > plain/b.txt
  : > plain/nothing
  printf '\\000\\001\\377binary' > plain/deep/blob
  printf x > closed/secret
  ln -s ../plain/a.txt links/to-file
  ln -s ../plain links/to-folder
  ln -s nowhere links/broken
  ln -s loop links/loop
  ln -s /etc/hostname links/absolute
  printf linked > hard-1 && ln hard-1 plain/hard-2
  mkfifo fifo
  truncate -s 10M sparse && printf end | dd of=sparse bs=1 seek=9000000 conv=notrunc status=none
  setfattr -n user.note -v kept plain/b.txt
  printf n > $'new\\nline'
  printf l > $'latin-\\351'
  chmod 0400 plain/a.txt; chmod 0711 plain/deep; chmod 0640 hard-1; chmod 0500 closed
  touch -h -d '2001-02-03 04:05:06.123456789' links/to-file links/broken
  touch -d '2002-03-04 05:06:07.987654321' plain/a.txt plain/deep/blob
  touch -d '1999-12-31 23:59:59.000000001' plain/deep plain empty links .
`;
