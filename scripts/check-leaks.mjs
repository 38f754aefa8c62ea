// Nothing of the machine that a file was written on belongs in the project: neither its folders nor
// the hosts that packages came from.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
// Folders that every machine has tell nothing about this one.
const COMMON = ["/", "/tmp", "/var/tmp", "/home", "/root", "/srv", "/opt", "/mnt", "/usr/src"];
const folders = [root, dirname(root), homedir()].filter((path) => !COMMON.includes(path));
const escaped = folders.map((path) => path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
const LEAKS = [
  // A folder name may well end a longer path, such as an overlay's work folder; only a full path counts.
  new RegExp(`(?<![\\w./\\-\\]})])(${escaped.join("|")})(/|\\b)`),
  /\bregistry\.[a-z]+js\b/,
  /"resolved":\s"http/,
];

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
const found = [];
for (const path of tracked.split("\0").filter((name) => name !== "")) {
  const lines = readIfThere(resolve(root, path)).split("\n");
  lines.forEach((line, at) => {
    if (LEAKS.some((leak) => leak.test(line))) found.push(`${path}:${at + 1}: ${line.trim()}`);
  });
}
for (const line of found) console.error(line.slice(0, 200));
process.exit(found.length > 0 ? 1 : 0);

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // Deleted in the work tree, not yet in the index.
    if (error.code === "ENOENT") return "";
    throw error;
  }
}
