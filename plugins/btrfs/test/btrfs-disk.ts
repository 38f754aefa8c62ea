import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIZE = 200 * 1024 ** 2;
const PAUSES_MS = [50, 200, 1000];

/** A btrfs in an image file of its own, with one subvolume to work in. Whoever opens it closes it. */
export class BtrfsDisk {
  readonly #folder = mkdtempSync(join(realpathSync(tmpdir()), "cofferdam-test-btrfs-"));
  readonly #image = join(this.#folder, "image");
  readonly #mountPoint = join(this.#folder, "disk");
  #made = 0;

  constructor() {
    writeFileSync(this.#image, "");
    truncateSync(this.#image, SIZE);
    mkdirSync(this.#mountPoint);
    try {
      run("mkfs.btrfs", ["-q", this.#image]);
      this.#mount();
    } catch (error) {
      rmSync(this.#folder, { recursive: true });
      throw error;
    }
  }

  /** A new and empty subvolume. */
  subvolume(): string {
    const path = this.#newPath();
    run("btrfs", ["subvolume", "create", path]);
    return path;
  }

  /** A snapshot that nobody can change. */
  snapshot(subvolume: string): string {
    const path = this.#newPath();
    run("btrfs", ["subvolume", "snapshot", "-r", subvolume, path]);
    return path;
  }

  /** What the kernel says about the way from one snapshot to another. */
  send(base: string, now: string, options: readonly string[] = []): Buffer {
    return run("btrfs", ["send", "--no-data", "-q", ...options, "-p", base, now]);
  }

  /** After this, btrfs gives the numbers of removed entries to new ones. */
  remount(): void {
    this.#unmount();
    this.#mount();
  }

  /** Leaves nothing of it. */
  close(): void {
    this.#unmount();
    rmSync(this.#folder, { recursive: true });
  }

  #newPath(): string {
    this.#made += 1;
    return join(this.#mountPoint, String(this.#made));
  }

  #mount(): void {
    run("mount", ["-t", "btrfs", "-o", "loop", this.#image, this.#mountPoint]);
  }

  /** Other tests copy mount namespaces at any time, which keeps every mount busy for a moment. */
  #unmount(): void {
    for (const pauseMs of PAUSES_MS) {
      if (spawnSync("umount", ["--", this.#mountPoint]).status === 0) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
    run("umount", ["--", this.#mountPoint]);
  }
}

function run(command: string, args: readonly string[]): Buffer {
  return execFileSync(command, args, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: SIZE });
}
