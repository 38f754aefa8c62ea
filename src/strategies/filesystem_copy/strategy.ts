import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { ProbeResult } from "../../contract/strategy.ts";
import { FileStrategy } from "../../tree/strategy/file-strategy.ts";
import { COPY_CAPABILITIES } from "../copy/capabilities.ts";
import { CopyWorkspace } from "../copy/copy-workspace.ts";

/** An independent byte copy that shares no blocks with the original and needs nothing from the file system. */
export class FilesystemCopyStrategy extends FileStrategy {
  override readonly capabilities: StrategyCapabilities = COPY_CAPABILITIES;
  protected override readonly workspace = new CopyWorkspace("never");

  /** Works everywhere. */
  probe(): Promise<ProbeResult> {
    return Promise.resolve({ works: true, mode: "copy" });
  }
}
