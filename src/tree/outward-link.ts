import { type BytePath, type RelativePath, isWithin, parentOf } from "../model/byte-path.ts";

/**
 * Whether a link's text leads out of the tree that holds it. Judged by the text alone: links are never followed.
 * `root` is the absolute path of the real tree.
 */
export function isOutwardLink(path: RelativePath, target: BytePath, root: BytePath): boolean {
  if (target.startsWith("/")) return !isWithin(normalize(target.slice(1).split("/")), root);
  const depth = parentOf(path) === "" ? [] : parentOf(path).split("/");
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") depth.push(part);
    else if (depth.pop() === undefined) return true;
  }
  return false;
}

function normalize(parts: readonly string[]): BytePath {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}` as BytePath;
}
