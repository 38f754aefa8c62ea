import { type ProbeResult, SnapshotStrategy } from "cofferdam";
import { BtrfsSnapshots } from "./btrfs-snapshots.ts";

/** For directories that are subvolumes of btrfs: workspaces and checkpoints are snapshots. */
export class BtrfsSnapshotStrategy extends SnapshotStrategy {
  protected override readonly snapshots = new BtrfsSnapshots(this.host);

  override async probe(location?: string): Promise<ProbeResult> {
    const missing = await this.snapshots.missing();
    return missing === null ? super.probe(location) : { works: false, ...missing };
  }
}
