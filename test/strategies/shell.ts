import { spawnSync } from "node:child_process";

/** Runs a program and gives what it wrote; throws when it fails. */
export function run(command: string, args: readonly string[], cwd = "/"): string {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 1024 ** 3 });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** Runs lines of shell in a folder: the edits of a user. */
export function shell(cwd: string, script: string): string {
  return run("sh", ["-ec", script], cwd);
}

/** Every entry below a folder with inode and change time: equal listings mean that nothing was touched. */
export function identities(folder: string): string[] {
  return run("find", [".", "-printf", "%p %i %C@\n"], folder).trim().split("\n").toSorted();
}

/** Every name below a folder. */
export function names(folder: string): string[] {
  return run("find", [".", "-mindepth", "1", "-printf", "%P\n"], folder)
    .split("\n")
    .filter((line) => line !== "")
    .toSorted();
}

/** Bytes that a folder takes on disk. */
export function diskUsage(folder: string): number {
  return Number(run("du", ["-s", "-B1", folder]).split("\t")[0]);
}
