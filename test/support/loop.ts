import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, rmdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

/** Kinds of file systems that the tests make for themselves. */
export const FILE_SYSTEM_KINDS = ["ext4", "xfs", "btrfs", "tmpfs"] as const;

/** One of the file systems that the tests make for themselves. */
export type FileSystemKind = (typeof FILE_SYSTEM_KINDS)[number];

/** Those of them that lie on a disk. */
export type DiskKind = Exclude<FileSystemKind, "tmpfs">;

/** Choices for a file system. */
export interface FileSystemOptions {
  /** Size of the (sparse) image; the smallest that the kind allows, or 64, unless given. */
  readonly megabytes?: number;
  /** The folder that image and mount point are made in; the run's own unless given. */
  readonly below?: string;
  /** Passed to `mount -o`. */
  readonly mountOptions?: readonly string[];
  /** Passed to `mkfs`. */
  readonly formatOptions?: readonly string[];
}

/** A mounted file system of its own; disposing of it unmounts it and frees its loop device. */
export interface MountedFileSystem extends AsyncDisposable {
  readonly kind: FileSystemKind;
  /** The root of the file system: empty and readable for everybody. */
  readonly mountPoint: string;
}

const SMALLEST: Record<FileSystemKind, number> = { ext4: 64, xfs: 300, btrfs: 128, tmpfs: 64 };
const FORMAT: Record<DiskKind, readonly string[]> = {
  ext4: ["mkfs.ext4", "-q", "-F"],
  xfs: ["mkfs.xfs", "-q"],
  btrfs: ["mkfs.btrfs", "-q"],
};

/** Other tests copy mount namespaces at any time, which keeps every mount busy for a moment. */
const PAUSES_MS = [50, 200, 1000];

/**
 * Makes and mounts a fresh file system. Needs root. Disposal fails when something still uses it,
 * after it has taken the mount away all the same.
 */
export function mountFileSystem(
  kind: FileSystemKind,
  options: FileSystemOptions = {},
): MountedFileSystem {
  const { below } = options;
  const folder = createTempFolder({ mode: 0o755, ...(below !== undefined && { below }) });
  const mountPoint = join(folder, kind);
  mkdirSync(mountPoint);
  try {
    mount(kind, folder, mountPoint, options);
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  return {
    kind,
    mountPoint,
    [Symbol.asyncDispose]: async () => {
      const unmount = (): SpawnSyncReturns<string> =>
        spawnSync("umount", ["--", mountPoint], { encoding: "utf8" });
      let done = unmount();
      for (const pauseMs of PAUSES_MS) {
        if (done.status === 0) break;
        await setTimeout(pauseMs);
        done = unmount();
      }
      removeFolder(folder);
      if (done.status !== 0) throw new Error(`${mountPoint} was still in use: ${done.stderr}`);
    },
  };
}

function mount(
  kind: FileSystemKind,
  folder: string,
  mountPoint: string,
  options: FileSystemOptions,
): void {
  const megabytes = options.megabytes ?? SMALLEST[kind];
  const wanted = options.mountOptions ?? [];
  if (kind === "tmpfs") {
    const all = [`size=${megabytes}m`, "mode=0755", ...wanted];
    run("mount", ["-t", "tmpfs", "-o", all.join(","), "none", mountPoint]);
    return;
  }
  const image = join(folder, "image");
  formatImage(kind, image, options);
  mountImage(kind, image, mountPoint, wanted);
  if (kind === "ext4" && !wanted.includes("ro")) rmdirSync(join(mountPoint, "lost+found"));
}

/** Makes a sparse file with an empty file system in it. */
export function formatImage(
  kind: DiskKind,
  image: string,
  { megabytes, formatOptions = [] }: Pick<FileSystemOptions, "megabytes" | "formatOptions"> = {},
): void {
  writeFileSync(image, "");
  truncateSync(image, (megabytes ?? SMALLEST[kind]) * 1024 ** 2);
  const [command = "", ...args] = FORMAT[kind];
  run(command, [...args, ...formatOptions, image]);
}

/** Mounts the file system of an image. */
export function mountImage(
  kind: DiskKind,
  image: string,
  mountPoint: string,
  mountOptions: readonly string[] = [],
): void {
  // A loop device set up by mount is freed by the kernel when the last mount of it goes.
  run("mount", ["-t", kind, "-o", ["loop", ...mountOptions].join(","), image, mountPoint]);
}

function run(command: string, args: readonly string[]): void {
  const done = spawnSync(command, args, { encoding: "utf8" });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${done.stderr}`);
}
