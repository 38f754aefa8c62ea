import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { nobody } from "../support/nobody.ts";
import { tempFolder } from "../support/temp.ts";
import { run } from "../strategies/shell.ts";
import type { LiveOrder } from "./programs/live.ts";

const HOSTILE = [
  "--upload-pack=touch pwned",
  "-rf",
  ";touch pwned",
  "$(touch pwned)",
  "`touch pwned`",
];
const PROGRAMS = ["umount", "fusermount3", "fuse-overlayfs", "git", "unshare", "mount", "sh"];

interface Subject {
  readonly name: string;
  readonly strategy: string;
  readonly mode?: string;
  readonly uid?: number;
  /** Programs that are started at least. */
  readonly starts: readonly string[];
}

const SUBJECTS: readonly Subject[] = [
  { name: "overlay, kernel", strategy: "overlay", mode: "kernel", starts: ["git"] },
  {
    name: "overlay, user namespace",
    strategy: "overlay",
    mode: "userns",
    uid: nobody.uid,
    starts: ["unshare", "mount", "git"],
  },
  { name: "overlay, fuse", strategy: "overlay", mode: "fuse", starts: ["fuse-overlayfs", "git"] },
  { name: "overlay, copy", strategy: "overlay", mode: "copy", starts: ["git"] },
  { name: "copy_on_write", strategy: "copy_on_write", starts: ["git"] },
  { name: "filesystem_copy", strategy: "filesystem_copy", starts: ["git"] },
  { name: "none", strategy: "none", starts: [] },
];

/** A program that was started by the library. */
interface Started {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
}

/** Puts programs in front of the real ones that note how they are started. */
function watchPrograms(folder: string): { path: string; started: () => Started[] } {
  const [path, log] = [join(folder, "bin"), join(folder, "log")];
  mkdirSync(path);
  mkdirSync(log);
  for (const program of PROGRAMS) {
    const real = run("which", [program]).trim();
    const text = `#!/bin/bash
note=$(mktemp ${log}/XXXXXXXX)
{ printf '%s\\0' ${program} "$@"; printf '\\1\\0'; cat /proc/$$/environ; } > "$note"
exec ${real} "$@"
`;
    writeFileSync(join(path, program), text, { mode: 0o755 });
  }
  const started = (): Started[] =>
    run("ls", [log])
      .trim()
      .split("\n")
      .filter((name) => name !== "")
      .map((name) => {
        const [call = "", env = ""] = readFileSync(join(log, name), "utf8").split("\u0001\0");
        const [program = "", ...args] = call.split("\0").slice(0, -1);
        return { program, args, env: env.split("\0").filter((line) => line !== "") };
      });
  return { path, started };
}

/** What a started program may get; the rest says how git has to behave, or comes from the shell that notes it. */
const ENVIRONMENT = /^(PATH|LANG|HOME|LIBMOUNT_FORCE_MOUNT2|GIT_[A-Z_]+|PWD|SHLVL)$/;
/** Node itself hands this to every child while coverage is counted. */
const COUNTING = process.env["NODE_V8_COVERAGE"] === undefined ? [] : ["NODE_V8_COVERAGE"];

it.each(SUBJECTS)("$name: no value becomes an option or a command (R235)", async (subject) => {
  const folder = tempFolder({ mode: 0o755 });
  const location = join(folder, "real", ...HOSTILE);
  mkdirSync(location, { recursive: true });
  const [file = "", repository = ""] = HOSTILE;
  writeFileSync(join(location, file), "first\n\n\n\n\nlast\n");
  run("git", ["init", "-q", "--", join(location, repository)]);
  writeFileSync(join(location, repository, "tracked"), "tracked\n");
  run("git", ["add", "tracked"], join(location, repository));
  const { path, started } = watchPrograms(folder);
  const cwd = join(folder, "cwd");
  mkdirSync(cwd);
  const { strategy, mode, uid } = subject;
  const order: LiveOrder = {
    state: join(folder, "state", ...HOSTILE),
    planId: HOSTILE.join(" "),
    resourceId: HOSTILE.toReversed().join(" "),
    location,
    strategy,
    file,
    repository,
    ...(mode !== undefined && { mode }),
  };
  if (uid !== undefined) run("chown", ["-R", `${uid}:${uid}`, "--", folder]);
  const program = new URL("./programs/live.ts", import.meta.url);
  const ended = await runChild(program, [JSON.stringify(order)], {
    cwd,
    env: { PATH: `${path}:${process.env["PATH"] ?? ""}`, SECRET: "for nobody", HOME: folder },
    ...(uid !== undefined && { uid }),
  });
  expect(ended).toMatchObject({ code: 0, stderr: "" });

  // The program of the test asks git for a status by itself.
  const own = started().filter(({ args }) => args[0] !== "status");
  expect([...new Set(own.map(({ program: name }) => name))]).toEqual(
    expect.arrayContaining([...subject.starts]),
  );
  for (const { args, env } of own) {
    const end = args.indexOf("--");
    const options = end < 0 ? args : args.slice(0, end);
    expect(options.filter((option) => /pwned|-rf/.test(option))).toEqual([]);
    expect(
      env.map((line) => line.replace(/=.*/s, "")).filter((name) => !ENVIRONMENT.test(name)),
    ).toEqual(COUNTING);
  }
  expect(run("find", [folder, "-name", "pwned"])).toBe("");
});
