import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** How many files the project has. */
export const SOURCES = 300;
/** What builds it. */
export const BUILD = ["make", "-s", `-j${availableParallelism()}`];

/** Whether this machine can build it. */
export function canBuild() {
  try {
    for (const program of ["make", "gcc"]) execFileSync(program, ["--version"]);
    return true;
  } catch {
    return false;
  }
}

/** Makes a C project of several hundred small files in a new folder. */
export function makeProject(folder) {
  mkdirSync(folder);
  const names = Array.from({ length: SOURCES }, (_, n) => `part${n}`);
  writeFileSync(join(folder, "parts.h"), names.map((name) => `int ${name}(int value);\n`).join(""));
  names.forEach((name, n) => writeFileSync(join(folder, `${name}.c`), sourceOf(name, n)));
  const calls = names.map((name) => `  sum += ${name}(sum);\n`).join("");
  writeFileSync(
    join(folder, "main.c"),
    `#include <stdio.h>\n#include "parts.h"\nint main(void) {\n  int sum = 1;\n${calls}  printf("%d\\n", sum);\n  return 0;\n}\n`,
  );
  writeFileSync(
    join(folder, "Makefile"),
    [
      "objects := $(patsubst %.c,%.o,$(wildcard *.c))",
      "program: $(objects)\n\tgcc -o $@ $(objects)",
      "%.o: %.c parts.h\n\tgcc -O1 -c -o $@ $<",
      "clean:\n\trm -f program $(objects)",
      "",
    ].join("\n"),
  );
}

function sourceOf(name, n) {
  return `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
int ${name}(int value) {
  char text[64];
  snprintf(text, sizeof text, "%d-${n}", value);
  return (int)strlen(text) + abs(value % ${n + 7});
}
`;
}
