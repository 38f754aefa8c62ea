import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";

test("copying back with cp -a overwrites what somebody changed meanwhile, as the README says", () => {
  const folder = tempFolder();
  const [real, copy] = [join(folder, "real"), join(folder, "copy")];
  mkdirSync(real);
  writeFileSync(join(real, "file"), "base");
  execFileSync("cp", ["-a", real, copy]);
  writeFileSync(join(copy, "file"), "ours");
  writeFileSync(join(real, "file"), "theirs");
  execFileSync("cp", ["-a", `${copy}/.`, real]);
  expect(readFileSync(join(real, "file"), "utf8")).toBe("ours");
});

test("git worktree leaves out what is ignored or empty, modes and times, as the README says", () => {
  const folder = tempFolder();
  const [real, tree] = [join(folder, "real"), join(folder, "tree")];
  mkdirSync(join(real, "empty"), { recursive: true });
  writeFileSync(join(real, ".gitignore"), "secret\n");
  writeFileSync(join(real, "secret"), "");
  writeFileSync(join(real, "file"), "", { mode: 0o600 });
  utimesSync(join(real, "file"), 1_000_000_000, 1_000_000_000);
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", real, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      env: { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: "pipe",
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "base");
  git("worktree", "add", "-q", tree);
  expect([existsSync(join(tree, "secret")), existsSync(join(tree, "empty"))]).toEqual([
    false,
    false,
  ]);
  const { mode, mtimeMs } = statSync(join(tree, "file"));
  expect(mode & 0o777).not.toBe(0o600);
  expect(mtimeMs).not.toBe(1_000_000_000_000);
});
