import { createHash } from "node:crypto";
import { changeOf } from "../../contract/compare-states.ts";
import { PathEscapeError } from "../../errors/index.ts";
import { type RelativePath, ancestorsOf, displayPath, toBytePath } from "../../model/byte-path.ts";
import type { PathInput } from "../../model/byte-path.ts";
import type { Change, EntryState } from "../../model/change.ts";
import { pathError } from "../beneath.ts";
import type { TreeStates } from "./saved-states.ts";
import type { TreeState } from "./tree-state.ts";

/**
 * The file at a path of a state.
 * @throws SandboxPathError when there is none, PathEscapeError when a link stands on the way.
 */
export function fileIn(state: TreeState, path: PathInput): EntryState {
  const inner = toBytePath(path) as RelativePath;
  refuseWay(state, inner);
  const found = state.get(displayPath(inner));
  if (found === undefined) throw pathError(inner, "missing");
  if (found.type !== "file") throw pathError(inner, found.type);
  return found;
}

/**
 * The draft after a file was written, and the change that this is: one that is there keeps mode and owner, a new one
 * gets the usual ones, and so do the folders that it needs. The same draft when the file has this content already.
 * @throws SandboxPathError when something else stands there or on the way, PathEscapeError when a link stands there.
 */
export function withFile(
  { base, draft }: TreeStates,
  path: PathInput,
  content: Uint8Array | string,
): { readonly draft: TreeState; readonly change: Change } {
  const inner = toBytePath(path) as RelativePath;
  const name = displayPath(inner);
  refuseWay(draft, inner);
  const present = draft.get(name);
  if (present !== undefined && present.type !== "file") throw pathError(inner, present.type);
  const hash = createHash("sha256").update(content).digest("hex");
  if (present?.hash === hash) return { draft, change: changeOf(name, present, present) };
  const mtimeNs = String(BigInt(Date.now()) * 1_000_000n);
  const next = new Map(draft);
  for (const folder of ancestorsOf(inner).map((ancestor) => displayPath(ancestor))) {
    if (!next.has(folder)) next.set(folder, fresh("directory", 0o777, mtimeNs));
  }
  const size = Buffer.byteLength(content);
  const after = { ...(present ?? fresh("file", 0o666, mtimeNs)), size, hash, mtimeNs };
  next.set(name, after);
  return { draft: next, change: changeOf(name, base.get(name) ?? null, after) };
}

function refuseWay(state: TreeState, path: RelativePath): void {
  for (const folder of ancestorsOf(path)) {
    const type = state.get(displayPath(folder))?.type ?? "directory";
    if (type === "directory") continue;
    if (type !== "symlink") throw pathError(path, "notDirectory");
    throw new PathEscapeError(`${displayPath(path)} leads over a symbolic link`, {
      hint: "Name the place itself; links inside a sandbox are kept as text and never followed.",
      data: { requested: displayPath(path), root: displayPath(folder) },
    });
  }
}

function fresh(type: EntryState["type"], mode: number, mtimeNs: string): EntryState {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  const bits = mode & ~process.umask();
  return { type, size: 0, mode: bits, uid, gid, hash: null, target: null, mtimeNs };
}
