// Records a real run of the command line in a terminal as a picture for the README.
// Usage: record-terminal.mjs [FILE]; docs/recording.svg unless given. Needs the build.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawTerminal } from "./docs/draw-terminal.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const COLUMNS = 80;
const COMMANDS = [
  "cat prices.txt",
  "coffer run --keep -p raise -- sh -c 'sed -i s/3/5/ prices.txt; touch ~/.cache'",
  "cat prices.txt  # nothing real has changed yet",
  "coffer diff raise -q",
  'coffer commit raise -m "new prices"',
  "coffer rollback raise",
  "cat prices.txt",
];

const folder = mkdtempSync(join(realpathSync(tmpdir()), "cofferdam-recording-"));
try {
  const [shop, bin, home] = ["shop", "bin", "home"].map((name) => join(folder, name));
  for (const path of [shop, bin, home]) mkdirSync(path);
  writeFileSync(join(shop, "prices.txt"), "apples 3\npears 4\n");
  writeFileSync(
    join(bin, "coffer"),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, "dist/cli/main.cjs")}' "$@"\n`,
  );
  chmodSync(join(bin, "coffer"), 0o755);
  const lines = COMMANDS.flatMap((command) => [
    { isTyped: true, text: `$ ${command}` },
    ...inTerminal(command, shop, bin, home).map((text) => ({ isTyped: false, text })),
  ]);
  const file = process.argv[2] ?? join(root, "docs/recording.svg");
  writeFileSync(file, drawTerminal(lines, COLUMNS));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What a terminal shows of a command, line by line, with its colours. */
function inTerminal(command, cwd, bin, home) {
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: home,
    TERM: "xterm",
    SHELL: "/bin/sh",
    PAGER: "cat",
    // The folder for it would be in the home that is shown.
    NODE_DISABLE_COMPILE_CACHE: "1",
  };
  const line = `stty cols ${COLUMNS} rows 40; ${command}`;
  const shown = execFileSync("script", ["-qec", line, "/dev/null"], {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 60_000,
  });
  // What a slow machine told meanwhile was erased again.
  const left = shown.replaceAll(/[^\n]*\r\u001b\[K/g, "");
  return left.replaceAll("\r", "").trimEnd().split("\n");
}
