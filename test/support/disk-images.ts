import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { mountsBelow } from "./leftovers.ts";
import { type DiskKind, formatImage, mountFileSystem, mountImage } from "./loop.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

/** Nothing is written because time has passed, and no kindness to programs that forget a sync. */
const MOUNT_OPTIONS: Record<DiskKind, readonly string[]> = {
  ext4: ["commit=600", "noauto_da_alloc"],
  xfs: ["nouuid"],
  btrfs: ["commit=300"],
};
const SECOND = "other-device";
const PATIENCE_MS = 60_000;
const HOST_MEGABYTES = 6000;

/** The contents of both disks at one moment; the files of the images. */
export type DiskState = readonly [string, string];

/**
 * Two disks of which any earlier state can be loaded again: the second is mounted in a folder of the first. The images
 * lie in memory on a file system that copies by sharing.
 */
export class TwoDisks implements AsyncDisposable {
  readonly kind: DiskKind;
  /** Where the first disk is mounted; the same for every state, because paths are recorded. */
  readonly mountPoint: string;
  readonly #own: string;
  readonly #memory: AsyncDisposable;
  readonly #host: AsyncDisposable & { readonly mountPoint: string };
  #loaded: DiskState | null = null;
  #count = 0;

  constructor(kind: DiskKind) {
    this.kind = kind;
    this.#own = createTempFolder({ mode: 0o755 });
    this.mountPoint = join(this.#own, "disk");
    mkdirSync(this.mountPoint);
    const memory = mountFileSystem("tmpfs", { megabytes: HOST_MEGABYTES });
    this.#memory = memory;
    this.#host = mountFileSystem("xfs", {
      megabytes: HOST_MEGABYTES - 100,
      below: memory.mountPoint,
    });
  }

  /** Formats both disks and loads them. */
  format(): void {
    const fresh = this.#names();
    for (const image of fresh) formatImage(this.kind, image);
    this.#mount(fresh, [this.mountPoint]);
    if (this.kind === "ext4") rmdirSync(join(this.mountPoint, "lost+found"));
    mkdirSync(join(this.mountPoint, SECOND));
    this.#mount(fresh, [join(this.mountPoint, SECOND)], 1);
    if (this.kind === "ext4") rmdirSync(join(this.mountPoint, SECOND, "lost+found"));
    this.#loaded = fresh;
  }

  /** Loads a copy of a state, as after the power came back. */
  load(state: DiskState): void {
    const copies = this.#names();
    state.forEach((image, at) => {
      execFileSync("cp", ["--reflink=always", image, copies[at] ?? ""]);
    });
    // It remembers disks that it has seen in a later state and refuses them in an earlier one.
    if (this.kind === "btrfs") execFileSync("btrfs", ["device", "scan", "--forget"]);
    this.#mount(copies, [this.mountPoint, join(this.mountPoint, SECOND)]);
    this.#loaded = copies;
  }

  /** Writes everything out, unmounts the disks with all that is mounted on them, and gives their state. */
  unload(): DiskState {
    for (const point of mountsBelow(this.mountPoint).toReversed()) {
      // A process that was killed may still be on its way out of it.
      waitUntil(() => spawnSync("umount", ["--", point]).status === 0, `${point} is in use`);
    }
    if (this.#loaded === null) throw new Error("nothing is loaded");
    const state = this.#loaded;
    this.#loaded = null;
    // Another process that was just started may have the mounts in a namespace of its own: until that is gone, not
    // everything is written.
    for (const image of state) waitUntil(() => deviceOf(image) === undefined, `${image} is in use`);
    return state;
  }

  /** Whether disks are loaded. */
  get isLoaded(): boolean {
    return this.#loaded !== null;
  }

  /** What a tracer needs to keep the disks on the way. */
  keeping(): { images: readonly string[]; counters: readonly string[]; into: string } {
    if (this.#loaded === null) throw new Error("nothing is loaded");
    const into = join(this.#host.mountPoint, `kept-${this.#count}`);
    mkdirSync(into);
    return { images: this.#loaded, counters: this.#loaded.map(counterOf), into };
  }

  /** Forgets states that are not needed any more. */
  drop(paths: readonly string[]): void {
    for (const path of paths) rmSync(path, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isLoaded) this.unload();
    await this.#host[Symbol.asyncDispose]();
    await this.#memory[Symbol.asyncDispose]();
    removeFolder(this.#own);
  }

  #names(): DiskState {
    this.#count += 1;
    const name = (at: number): string => join(this.#host.mountPoint, `${this.#count}-${at}`);
    return [name(0), name(1)];
  }

  #mount(images: DiskState, points: readonly string[], first = 0): void {
    points.forEach((point, at) => {
      mountImage(this.kind, images[first + at] ?? "", point, MOUNT_OPTIONS[this.kind]);
    });
  }
}

/** The file in which the kernel counts what is written to the loop device of an image. */
function counterOf(image: string): string {
  const found = deviceOf(image);
  if (found === undefined) throw new Error(`${image} has no loop device`);
  return `/sys/block/${found}/stat`;
}

function deviceOf(image: string): string | undefined {
  return readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .find((name) => textOf(`/sys/block/${name}/loop/backing_file`).trimEnd() === image);
}

function waitUntil(isSo: () => boolean, otherwise: string): void {
  const latest = Date.now() + PATIENCE_MS;
  while (!isSo()) {
    if (Date.now() > latest) throw new Error(otherwise);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
