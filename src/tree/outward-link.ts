import { type BytePath, type RelativePath, isWithin, parentOf } from "../model/byte-path.ts";

/**
 * Whether a link's text leads out of the tree that holds it. Judged by the text alone: links are never followed. A `..`
 * behind a name counts as outward, because that name may itself be a link. `root` is the absolute path of the real tree.
 */
export function isOutwardLink(path: RelativePath, target: BytePath, root: BytePath): boolean {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const firstName = parts.findIndex((part) => part !== "..");
  if (firstName >= 0 && parts.includes("..", firstName)) return true;
  if (target.startsWith("/")) return !isWithin(`/${parts.join("/")}` as BytePath, root);
  const depth = parentOf(path) === "" ? [] : parentOf(path).split("/");
  for (const part of parts) {
    if (part !== "..") depth.push(part);
    else if (depth.pop() === undefined) return true;
  }
  return false;
}
