import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILES_PER_FOLDER = 50;
const FOLDERS_PER_PARENT = 40;

/** Makes a tree of small text files, fifty to a folder, and gives their relative paths. */
export function makeTree(root, files) {
  const paths = [];
  for (let folder = 0; paths.length < files; folder++) {
    const name = `part-${Math.floor(folder / FOLDERS_PER_PARENT)}/folder-${folder}`;
    mkdirSync(join(root, name), { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER && paths.length < files; file++) {
      const path = `${name}/file-${file}.txt`;
      writeFileSync(join(root, path), `content of ${path}\n`.repeat(20));
      paths.push(path);
    }
  }
  return paths;
}

/** Twenty edits of every kind, made by an ordinary program; `round` keeps paths and content of each round apart. */
export function makeTwentyEdits(workspace, paths, round) {
  const at = (n) => join(workspace, paths[Math.floor((paths.length / 21) * (n + 1)) + round]);
  for (let n = 0; n < 8; n++) writeFileSync(at(n), `edited in round ${round}\n`);
  for (let n = 0; n < 5; n++) writeFileSync(join(workspace, `new-${round}-${n}.txt`), `new ${n}\n`);
  execFileSync("rm", [at(8), at(9), at(10)]);
  execFileSync("chmod", ["600", at(11), at(12)]);
  execFileSync("mv", [at(13), `${at(13)}.moved-${round}`]);
  mkdirSync(join(workspace, `new-folder-${round}`));
}

/** A git repository over the tree, so that `git worktree add` can be measured beside the others. */
export function makeRepository(root) {
  const git = (...args) => execFileSync("git", ["-C", root, ...args], { stdio: "ignore" });
  git("init", "-q");
  git("config", "gc.auto", "0");
  git("-c", "core.autocrlf=false", "add", "-A");
  git("-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "commit", "-qm", "tree");
}
