import type { BytePath, RelativePath } from "../model/byte-path.ts";
import type { SkippedEntry } from "../model/change.ts";
import { MODE } from "../platform/native/index.ts";
import { CONTROL, type CopyPartResult, openShared } from "./scan/copy-entries.ts";
import { FIELD, FLAG, type Manifest } from "./scan/manifest.ts";
import type { EarlierState, SharedManifest } from "./scan/plan-copy.ts";
import { WORK_THREADS, runTask } from "./threads/pool.ts";

/** A whole tree to be copied; paths are absolute, the target exists and is empty. */
export interface CopyTreeOptions {
  readonly source: BytePath;
  readonly target: BytePath;
  readonly only?: BytePath | null;
  readonly exclude?: readonly RelativePath[];
  /** `auto`: share blocks where possible; `never`: independent bytes; `always`: share or fail. */
  readonly reflink: "auto" | "never" | "always";
  /** An earlier copy of the same source: files that are the same still become further names of its files. */
  readonly earlier?: (EarlierState & { readonly tree: BytePath }) | null;
  readonly signal?: AbortSignal | undefined;
  /** Called after the walk, before any file is copied; may refuse by throwing. */
  readonly beforeCopy?: (bytes: number, entries: number) => void | Promise<void>;
}

/** What a copy of a tree did. */
export interface CopiedTree extends CopyPartResult {
  readonly manifest: Manifest;
  readonly skipped: readonly SkippedEntry[];
}

/**
 * Copies a tree with modes, owners, times, links, hard links, holes and attributes, on several threads. Special files
 * and other mounts are skipped and listed; setuid, setgid and sticky bits are left out of the copy.
 * On failure the target may hold a part: the caller removes it.
 */
export async function copyTree(options: CopyTreeOptions): Promise<CopiedTree> {
  const { source, target, reflink, signal } = options;
  const plan = await runTask("planCopy", {
    source,
    target,
    only: options.only ?? null,
    exclude: options.exclude ?? [],
    earlier: options.earlier ?? null,
  });
  signal?.throwIfAborted();
  await options.beforeCopy?.(plan.bytes, plan.manifest.count);
  const control = new Int32Array(new SharedArrayBuffer(8));
  const stop = (): void => {
    Atomics.store(control, CONTROL.stop, 1);
  };
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const folders = foldersOf(plan.manifest);
    const earlier = options.earlier?.tree ?? null;
    const part = { source, target, manifest: plan.manifest, control, folders, reflink, earlier };
    // A thread that fails stops the others; all must have ended before the target can be removed.
    const parts = await Promise.allSettled(
      Array.from({ length: WORK_THREADS }, () =>
        runTask("copyEntries", part).catch((error: unknown) => {
          stop();
          throw error;
        }),
      ),
    );
    signal?.throwIfAborted();
    const done = parts.map((settled) => {
      if (settled.status === "rejected") throw settled.reason;
      return settled.value;
    });
    await runTask("finishCopy", { source, target, manifest: plan.manifest });
    return { ...total(done), manifest: openShared(plan.manifest), skipped: plan.skipped };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function foldersOf(shared: SharedManifest): Uint32Array {
  const manifest = openShared(shared);
  const folders: number[] = [];
  for (let record = 0; record < manifest.count; record++) {
    const isFolder = (manifest.get(record, FIELD.mode) & MODE.typeMask) === MODE.directory;
    if (isFolder && !manifest.has(record, FLAG.skipped)) folders.push(record);
  }
  return Uint32Array.from(folders);
}

function total(parts: readonly CopyPartResult[]): CopyPartResult {
  const sum = { reflinked: 0, copied: 0, ownersLost: 0, xattrsLost: 0 };
  for (const part of parts) {
    sum.reflinked += part.reflinked;
    sum.copied += part.copied;
    sum.ownersLost += part.ownersLost;
    sum.xattrsLost += part.xattrsLost;
  }
  return sum;
}
