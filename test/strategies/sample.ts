import { mkdirSync } from "node:fs";
import { shell } from "./shell.ts";

/** A small tree with everything that has to be kept: links, odd modes, old times, attributes, empty folders. */
export function makeSample(root: string): void {
  mkdirSync(root);
  shell(
    root,
    `
    mkdir -p d/deep e empty closed
    printf 'a\\n' > a; printf 'b\\n' > b; printf 'keep\\n' > keep; printf '' > zero
    printf 'one\\n' > d/one; printf 'two\\n' > d/deep/two; printf 'gone\\n' > e/gone
    printf 'shut\\n' > closed/file
    ln a hard
    ln -s a link; ln -s d link-d; ln -s nowhere broken; ln -s loop loop
    setfattr -n user.note -v old b; setfattr -n user.note -v folder d
    chmod 0640 a; chmod 0755 b; chmod 0400 d/one; chmod 0711 d; chmod 0500 closed; chmod 0750 .
    find . -exec touch -h -d '2001-02-03 04:05:06.123456789' {} +
    `,
  );
}

/** Edits of every kind, done by other programs, to the sample tree. */
export function editSample(root: string): void {
  shell(
    root,
    `
    printf 'changed\\n' > b; chmod 0600 b; setfattr -n user.note -v new b
    printf 'new\\n' > new; mkdir -p n/m; printf 'inner\\n' > n/m/inner
    rm -r e; rm zero; rmdir empty
    ln -sfn b link; ln -s new fresh
    rm keep; mkdir keep; printf 'x\\n' > keep/x
    rm -r d/deep; printf 'now a file\\n' > d/deep
    setfattr -n user.note -v other d; chmod 0700 d
    mv closed opened
    `,
  );
}
