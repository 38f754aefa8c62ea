declare const byteBrand: unique symbol;
declare const relativeBrand: unique symbol;

/**
 * A path or name as the kernel sees it: one character per byte ("latin1" text).
 * Such strings sort in byte order, work as map keys, and never lose a byte of a name that is not UTF-8.
 */
export type BytePath = string & { readonly [byteBrand]: true };

/** A `BytePath` below a root: no leading slash, no empty, `.` or `..` part. The empty path is the root itself. */
export type RelativePath = BytePath & { readonly [relativeBrand]: true };

/** What callers may pass as a path: text (taken as UTF-8), or the exact bytes. */
export type PathInput = string | Uint8Array;

/** Why a path cannot be used below a root. */
export type PathProblem = "absolute" | "parent" | "nul" | "tooLong";

/** A caller's path after checking. */
export type ParsedPath =
  | { readonly path: RelativePath; readonly problem?: never }
  | { readonly problem: PathProblem; readonly path?: never };

/** The root of a tree as a relative path. */
export const ROOT = "" as RelativePath;

/** Turns text (UTF-8) or bytes into the internal form. */
export function toBytePath(input: PathInput): BytePath {
  const bytes = typeof input === "string" ? Buffer.from(input, "utf8") : Buffer.from(input);
  return bytes.toString("latin1") as BytePath;
}

/** The bytes to hand to a system call. */
export function pathBytes(path: BytePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** Whether the name survives a round trip through UTF-8 text. */
export function isTextPath(path: BytePath): boolean {
  const bytes = pathBytes(path);
  return Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes);
}

/** The path as text for people: UTF-8 where valid, the replacement character where not. */
export function displayPath(path: BytePath): string {
  return pathBytes(path).toString("utf8");
}

/** Checks a caller's path and gives its relative form, or tells what is wrong with it. Never touches the disk. */
export function parseRelativePath(input: PathInput): ParsedPath {
  const path = toBytePath(input);
  if (path.includes("\0")) return { problem: "nul" };
  if (path.startsWith("/")) return { problem: "absolute" };
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { problem: "parent" };
  if (path.length > 4095 || parts.some((part) => part.length > 255)) return { problem: "tooLong" };
  return { path: parts.join("/") as RelativePath };
}

/** `directory/name`, where either may be the root. */
export function joinPath<T extends BytePath>(directory: T, name: string): T {
  return (directory === "" ? name : `${directory}/${name}`) as T;
}

/** The folder that holds the path; the root for a top-level name. */
export function parentOf(path: RelativePath): RelativePath {
  const cut = path.lastIndexOf("/");
  return (cut < 0 ? "" : path.slice(0, cut)) as RelativePath;
}

/** The last part of the path. */
export function nameOf<T extends BytePath>(path: T): BytePath {
  return path.slice(path.lastIndexOf("/") + 1) as BytePath;
}

/** Whether `path` is `folder` itself or lies below it. */
export function isWithin(path: BytePath, folder: BytePath): boolean {
  return (
    folder === "" ||
    path === folder ||
    path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)
  );
}

/** Every folder above the path, the root first, the path itself left out. */
export function ancestorsOf(path: RelativePath): RelativePath[] {
  if (path === "") return [];
  const result: RelativePath[] = [ROOT];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    result.push(path.slice(0, at) as RelativePath);
  }
  return result;
}

/** Whether the path is one of these or lies below one of them; as quick for many of them as for one. */
export function isWithinAny(path: RelativePath, folders: ReadonlySet<RelativePath>): boolean {
  return folders.has(path) || ancestorsOf(path).some((folder) => folders.has(folder));
}
