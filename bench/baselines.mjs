import { execFileSync } from "node:child_process";

const quiet = { stdio: "ignore" };

/** What people do by hand today: each makes a workspace of a tree. */
export const BASELINES = {
  "cp -a": (source, target) => execFileSync("cp", ["-a", source, target], quiet),
  "cp -a --reflink=auto": (source, target) =>
    execFileSync("cp", ["-a", "--reflink=auto", source, target], quiet),
  "rsync -a": (source, target) => execFileSync("rsync", ["-a", `${source}/`, target], quiet),
  "git worktree add": (source, target) =>
    execFileSync("git", ["-C", source, "worktree", "add", "-q", "--detach", target], quiet),
};

/** The plain scan that a diff by comparison is measured against. */
export function find(tree) {
  execFileSync("find", [tree, "-printf", "%i %s %T@ %C@\\n"], quiet);
}

/** Copies changed files into a tree and waits until they are on disk, without any way back. */
export function copyAndSync(from, into) {
  execFileSync("cp", ["-a", `${from}/.`, into], quiet);
  execFileSync("sync", [], quiet);
}
