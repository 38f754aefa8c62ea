import { lchownSync, lstatSync } from "node:fs";
import { join } from "node:path";
import {
  CheckpointError,
  FilesystemCopyStrategy,
  type Json,
  type SandboxRef,
  type TransactionPart,
} from "../../../src/index.ts";

/** The good strategy that every defective one is made from, with what they all need. */
export class Good extends FilesystemCopyStrategy {
  /** The real resource. */
  protected async location(ref: SandboxRef): Promise<string> {
    return (await this.host.resourceOf(ref)).location;
  }

  /** The private folder of a sandbox. */
  protected directory(ref: SandboxRef): string {
    return ref.metadata["directory"] as string;
  }

  /** The workspace, without the engine's knowledge. */
  protected workspacePath(ref: SandboxRef): Promise<string> {
    return super.getPath(ref);
  }

  /** Touches one entry of the real resource that no rule ever changes; only its change time tells. */
  protected async touchOriginal(ref: SandboxRef): Promise<void> {
    const link = join(await this.location(ref), "broken-link");
    const { uid, gid } = lstatSync(link, { throwIfNoEntry: false }) ?? {};
    if (uid !== undefined && gid !== undefined) lchownSync(link, uid, gid);
  }
}

/** The record of a commit that has nothing to do. */
export function nothing({ ulid }: TransactionPart): Json {
  const lists = { added: [], changed: [], deleted: [], warnings: [] };
  return { noop: true, stage: "", ulid, message: null, ...lists };
}

/** The refusal of a state that is gone. */
export function lost(checkpointId: string): CheckpointError {
  return new CheckpointError("lost", { data: { checkpointId, reason: "damaged" } });
}
