/** What a file system can say about a folder that cannot be snapshotted. */
export interface Refusal {
  readonly reason: string;
  /** What helps. */
  readonly hint: string;
}

/**
 * What a file system with snapshots supplies; everything else is the engine's. Paths are absolute. A snapshot keeps
 * the inode numbers and all times of what it shows.
 */
export interface Snapshots {
  /** Why a folder cannot be snapshotted; null when it can. */
  refusal(folder: string): Promise<Refusal | null>;
  /**
   * Makes a snapshot at a path where nothing is. When the promise settles it is on disk, and so is everything that was
   * written before in the folder that it is made in and above.
   */
  take(source: string, target: string, kind: "frozen" | "writable"): Promise<void>;
  /** Removes a snapshot; nothing happens when there is none. */
  remove(snapshot: string): Promise<void>;
  /**
   * Every path, below the snapshots, at which two frozen ones may differ. Of folders that are in one of them alone, or
   * were replaced, the paths below may be left out; so may further names of a file. Absent where that cannot be told:
   * then everything is compared.
   */
  readonly touchedPaths?:
    ((base: string, now: string) => Promise<readonly Uint8Array[]>) | undefined;
}
