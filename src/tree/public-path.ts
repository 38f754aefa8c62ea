import { type BytePath, displayPath, isTextPath, pathBytes } from "../model/byte-path.ts";
import type { SkippedEntry } from "../model/change.ts";

/** How a path appears in public results: text, and the exact bytes in hex when text would lose some. */
export function publicPath(path: BytePath): { path: string; pathBytes?: string } {
  const text = displayPath(path);
  return isTextPath(path)
    ? { path: text }
    : { path: text, pathBytes: pathBytes(path).toString("hex") };
}

/** A note that an entry was seen and left alone. */
export function skippedEntry(path: BytePath, reason: SkippedEntry["reason"]): SkippedEntry {
  return { ...publicPath(path), reason };
}
