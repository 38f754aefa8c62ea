import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { ProbeResult } from "../../contract/strategy.ts";
import { toBytePath } from "../../model/byte-path.ts";
import { canShareBlocks } from "../../tree/check-space.ts";
import { FileStrategy } from "../../tree/strategy/file-strategy.ts";
import { COPY_CAPABILITIES } from "../copy/capabilities.ts";
import { CopyWorkspace } from "../copy/copy-workspace.ts";

/** Clones every file by reflink where the file system can, and copies bytes elsewhere; the ref says which. */
export class CopyOnWriteStrategy extends FileStrategy {
  override readonly capabilities: StrategyCapabilities = COPY_CAPABILITIES;
  protected override readonly workspace = new CopyWorkspace("auto");

  /** Works everywhere; tells whether blocks would be shared for a resource at the given place. */
  async probe(location?: string): Promise<ProbeResult> {
    if (location === undefined) return { works: true };
    const area = await this.host.areaFor(location);
    return canShareBlocks(toBytePath(area.path))
      ? { works: true, mode: "reflink" }
      : {
          works: true,
          mode: "copy",
          reason: "the file system cannot share blocks between files",
          hint: "Keep the resource on xfs or btrfs, or use the overlay strategy.",
        };
  }
}
