import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ChildResult } from "../support/child.ts";
import { commandLine } from "../support/package-folder.ts";
import { nobody } from "../support/nobody.ts";
import { tempFolder } from "../support/temp.ts";

/** Groups that files may have which are not their owner's own: one that he is in, and one that he is not. */
export const GROUPS = { supplementary: 33, foreign: 0 } as const;

/** A home of an ordinary user, in which programs can be started as that user. */
export interface ForeignHome {
  readonly folder: string;
  readonly project: string;
  readonly state: string;
  /** Program and arguments in front of another that the user starts. */
  readonly wrapper: readonly string[];
  /** Runs a shell line as the user, in the project unless told otherwise. */
  shell(line: string, cwd?: string): ChildResult;
  /** Runs the command line as the user, in the project. */
  coffer(...args: readonly string[]): ChildResult;
  /** The same while the user is in no group but his own. */
  cofferAlone(...args: readonly string[]): ChildResult;
}

/** Makes a home with an empty project of the given group; with or without the device of FUSE. */
export function makeForeignHome(group: number, fuse: "open" | "closed"): ForeignHome {
  const folder = tempFolder({ mode: 0o755 });
  const project = join(folder, "project");
  const state = join(folder, "state");
  for (const path of [project, join(folder, "tmp")]) mkdirSync(path);
  for (const path of [folder, join(folder, "tmp")]) chownSync(path, nobody.uid, nobody.gid);
  chownSync(project, nobody.uid, group);
  const namespace = inNamespace(folder, fuse);
  const run = (argv: readonly string[], cwd: string, user = AS_USER): ChildResult => {
    const [program = "", ...args] = [...namespace, `--wdns=${cwd}`, "--", ...user, ...argv];
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      TMPDIR: join(folder, "tmp"),
      XDG_STATE_HOME: state,
    };
    const done = spawnSync(program, args, { env, encoding: "utf8" });
    if (done.error) throw done.error;
    return { code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr };
  };
  const bin = process.env["COFFERDAM_TEST_NODE"] ?? process.execPath;
  return {
    folder,
    project,
    state,
    wrapper: [...namespace, "--", ...AS_USER],
    shell: (line, cwd = project) => run(["sh", "-c", line], cwd),
    coffer: (...args) => run([bin, commandLine(), ...args], project),
    cofferAlone: (...args) => run([bin, commandLine(), ...args], project, ALONE),
  };
}

const SET_USER = ["setpriv", `--reuid=${nobody.uid}`, `--regid=${nobody.gid}`];
const AS_USER: readonly string[] = [...SET_USER, `--groups=${GROUPS.supplementary}`, "--"];
const ALONE: readonly string[] = [...SET_USER, "--clear-groups", "--"];

/**
 * A mount namespace that lives as long as the test, so that later calls find the mounts of earlier ones. The device of
 * FUSE is open to everybody in it, as on any installed system, or there is none.
 */
function inNamespace(folder: string, fuse: "open" | "closed"): readonly string[] {
  const device = join(folder, ".fuse");
  const make = fuse === "open" ? 'mknod -m 0666 "$0" c 10 229' : 'mknod -m 0666 "$0" c 1 3';
  const script = `${make} && mount --bind "$0" /dev/fuse && : > "$0.ready" && exec cat`;
  const unshare = ["--mount", "--propagation", "private", "--", "sh", "-c", script, device];
  const holder = spawn("unshare", unshare, { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void holder.stdin.end());
  execFileSync("sh", ["-c", 'until [ -e "$0.ready" ]; do sleep 0.01; done', device]);
  return ["nsenter", `--mount=/proc/${holder.pid}/ns/mnt`];
}

/** Makes a file with its folders, which belong to the user and the group. */
export function plantFile(root: string, path: string, uid: number, gid: number): void {
  const place = join(root, path);
  if (mkdirSync(dirname(place), { recursive: true }) !== undefined)
    chownSync(dirname(place), nobody.uid, uid === nobody.uid ? gid : nobody.gid);
  writeFileSync(place, `old ${path}\n`);
  chownSync(place, uid, gid);
  chmodSync(place, 0o644);
}

/** Fills a folder of the user with files and folders of a group. */
export function plantForeign(root: string, group: number): void {
  const file = (path: string): void => plantFile(root, path, nobody.uid, group);
  for (const name of ["edited", "deleted", "renamed", "replaced", "closed", "kept"])
    file(`src/${name}.txt`);
  file("src/deep/edited.txt");
  file("old/gone.txt");
  file("top.txt");
  file("roots/own.txt");
  plantFile(root, "roots/readable.txt", 0, 0);
  plantFile(root, "roots/removed.txt", 0, 0);
  symlinkSync("kept.txt", join(root, "src/link"));
  lchownSync(join(root, "src/link"), nobody.uid, group);
  chownSync(root, nobody.uid, group);
}

/** Every entry below a folder as `find` and `sha256sum` see it, without times. */
export function entriesOf(root: string): Readonly<Record<string, string>> {
  const found = execFileSync("find", [root, "-printf", "%P %y %m %U:%G %l\n"], {
    encoding: "utf8",
  });
  const sums = execFileSync("sh", ["-c", "find . -type f -exec sha256sum {} +"], {
    cwd: root,
    encoding: "utf8",
  });
  const hashes = new Map(
    sums
      .trim()
      .split("\n")
      .map((line) => [line.slice(68), line.slice(0, 64)] as const),
  );
  const lines = found.trimEnd().split("\n");
  return Object.fromEntries(
    lines.map((line) => {
      const [path = "", ...rest] = line.split(" ");
      return [path, [...rest, hashes.get(path) ?? ""].join(" ")];
    }),
  );
}
