import { lstat, statfs } from "node:fs/promises";
import type { Refusal, RunResult, Snapshots, StrategyHost } from "cofferdam";
import { requestRemoval, requestSnapshot } from "./requests.ts";
import { touchedPaths } from "./send-stream.ts";

/** The inode number of the root of every subvolume. */
const SUBVOLUME = 256;
/** What the kernel calls a btrfs. */
const BTRFS = 0x9123_683e;
/** A stream without contents has some hundred bytes for each path. */
const LONGEST_STREAM = 2 ** 30;

/** The four calls of btrfs: by its requests, and by its own program where those are refused, which says why. */
export class BtrfsSnapshots implements Snapshots {
  /** Only root is told. */
  readonly touchedPaths: Snapshots["touchedPaths"] =
    process.geteuid?.() === 0 ? (base, now) => this.#touched(base, now) : undefined;
  readonly #host: StrategyHost;

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  async refusal(folder: string): Promise<Refusal | null> {
    const [found, { type }] = await Promise.all([lstat(folder), statfs(folder)]);
    if (type === BTRFS && found.isDirectory() && found.ino === SUBVOLUME) return null;
    return {
      reason: "it is no subvolume of a btrfs file system",
      hint: "Make it one (`btrfs subvolume create`, then move the files), or use the strategy overlay.",
    };
  }

  /** Why the program cannot be used; null when it can. */
  async missing(): Promise<Refusal | null> {
    try {
      await this.#run("btrfs", ["--version"]);
      return null;
    } catch {
      return { reason: "the program btrfs is missing", hint: "apt install btrfs-progs" };
    }
  }

  async take(source: string, target: string, kind: "frozen" | "writable"): Promise<void> {
    if (await requestSnapshot(this.#host.ioctl, source, target, kind)) return;
    const how = kind === "frozen" ? ["-r"] : [];
    await this.#run("btrfs", ["subvolume", "snapshot", ...how, source, target]);
  }

  async remove(snapshot: string): Promise<void> {
    if (!(await exists(snapshot)) || (await requestRemoval(this.#host.ioctl, snapshot))) return;
    // Somebody made another subvolume in it, or this user is not root: then it is emptied like any folder.
    await this.#host.run("btrfs", ["property", "set", "-ts", snapshot, "ro", "false"]);
    await this.#run("rm", ["-rf", "--", snapshot]);
  }

  async #touched(base: string, now: string): Promise<readonly Uint8Array[]> {
    const { stdout } = await this.#run("btrfs", ["send", "--no-data", "-q", "-p", base, now]);
    return touchedPaths(stdout);
  }

  async #run(program: string, args: readonly string[]): Promise<RunResult> {
    const done = await this.#host.run(program, args, { maxOutputBytes: LONGEST_STREAM });
    if (done.exitCode === 0) return done;
    const why = done.stderr.toString("utf8").trim() || `it ended with ${done.exitCode}`;
    throw new Error(`${program} ${args.slice(0, 2).join(" ")}: ${why}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
