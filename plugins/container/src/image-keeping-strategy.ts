import {
  type CommitOptions,
  type CommitResult,
  CopyOnWriteStrategy,
  type HasChangesOptions,
  type Json,
  type SandboxRef,
  type TransactionPart,
  commitResultOf,
} from "cofferdam";
import type { ContainerEngine } from "./container-engine.ts";
import { KeptImage } from "./kept-image.ts";
import { SandboxSystem } from "./sandbox-system.ts";
import type { KeptSystem, SystemRecord } from "./system-record.ts";

/** What a transaction has to do besides the files. */
interface KeepingRecord {
  /** The record of the files; null where there are none to be taken back. */
  readonly files: Json;
  readonly keep: KeptSystem;
}

/**
 * Commits that also give the system of the sandbox a name, in the same transaction: all of it happens, or nothing, and an
 * undo gives the name back to the image that had it.
 */
export abstract class ImageKeepingStrategy extends CopyOnWriteStrategy {
  protected abstract engineOf(ref: SandboxRef): ContainerEngine;
  protected abstract recordOf(ref: SandboxRef): SystemRecord;
  /** The image that a commit names, and how; null where none is kept. */
  protected abstract systemToKeep(
    ref: SandboxRef,
  ): Promise<{ readonly name: string; readonly image: string } | null>;

  override async hasChanges(ref: SandboxRef, options?: HasChangesOptions): Promise<boolean> {
    return (await super.hasChanges(ref, options)) || (await this.systemToKeep(ref)) !== null;
  }

  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    if (tx.kind === "undo") return this.#prepareUndo(ref, tx);
    const files = await super.prepare(ref, tx, options);
    const wanted = await this.systemToKeep(ref);
    if (wanted === null) return files;
    const before = await this.engineOf(ref).imageId(wanted.name);
    if (before === wanted.image) return files;
    const hasFiles = (files as { readonly noop?: boolean }).noop !== true;
    return { files, keep: { ...wanted, before, hasFiles } };
  }

  override async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const record = keepingOf(tx);
    if (record === null) return super.fence(ref, tx);
    if (record.files !== null) await super.fence(ref, { ...tx, record: record.files });
    const image = this.#keptImage(ref, record.keep);
    await (tx.kind === "undo" ? image.refuseForeign() : image.refuseMoved());
  }

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const record = keepingOf(tx);
    if (record === null) return super.commitPrepared(ref, tx);
    const { files, keep } = record;
    const undoable = { possible: true, by: "kept files and images" };
    const result =
      files === null
        ? commitResultOf(ref, [], { at: this.host.clock.now(), undoable })
        : await super.commitPrepared(ref, { ...tx, record: files });
    if (tx.kind === "undo") {
      await this.#keptImage(ref, keep).takeBack();
      return result;
    }
    const isGiven = await this.#give(ref, keep);
    const left = `${keep.name} was given to another image meanwhile, and left alone`;
    return {
      ...result,
      noop: false,
      warnings: [...result.warnings, ...(isGiven ? [] : [left])],
      metadata: { ...result.metadata, image: keep.name, imageId: keep.image },
    };
  }

  override async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const record = keepingOf(tx);
    if (record === null) return super.reversePrepared(ref, tx);
    const { files, keep } = record;
    if (tx.kind === "undo") await this.#give(ref, keep);
    else {
      await this.#keptImage(ref, keep).takeBack();
      await this.#forgetKept(ref, keep);
    }
    if (files !== null) await super.reversePrepared(ref, { ...tx, record: files });
  }

  override async forget(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const record = keepingOf(tx);
    if (record === null) return super.forget(ref, tx);
    const { files, keep } = record;
    if (files !== null) await super.forget(ref, { ...tx, record: files });
    if (tx.kind === "undo") await this.#forgetKept(ref, keep);
  }

  override async checkUndo(ref: SandboxRef): Promise<void> {
    const kept = await this.#keptOf(ref);
    if (kept === null || kept.hasFiles) await super.checkUndo(ref);
    if (kept !== null) await this.#keptImage(ref, kept).refuseForeign();
  }

  override async dropUndo(ref: SandboxRef): Promise<boolean> {
    if (!(await super.dropUndo(ref))) return false;
    const kept = await this.#keptOf(ref);
    if (kept !== null) await this.#keptImage(ref, kept).letGo();
    return true;
  }

  async #prepareUndo(ref: SandboxRef, tx: TransactionPart): Promise<Json> {
    const keep = await this.#keptOf(ref);
    if (keep === null) return super.prepare(ref, tx);
    const files = keep.hasFiles ? await super.prepare(ref, tx) : null;
    await this.#keptImage(ref, keep).refuseForeign();
    return { files, keep: { ...keep } };
  }

  /** The record comes first: whoever finds the name given must know that it can be taken back. */
  async #give(ref: SandboxRef, kept: KeptSystem): Promise<boolean> {
    const record = this.recordOf(ref);
    await record.write({ ...(await record.read()), kept });
    return this.#keptImage(ref, kept).give();
  }

  async #forgetKept(ref: SandboxRef, kept: KeptSystem): Promise<void> {
    const record = this.recordOf(ref);
    await this.#keptImage(ref, kept).letGo();
    await record.write({ ...(await record.read()), kept: null });
  }

  async #keptOf(ref: SandboxRef): Promise<KeptSystem | null> {
    return (await this.recordOf(ref).read()).kept;
  }

  #keptImage(ref: SandboxRef, kept: KeptSystem): KeptImage {
    return new KeptImage(this.engineOf(ref), kept, SandboxSystem.repositoryOf(ref.sandboxId));
  }
}

function keepingOf({ record }: TransactionPart): KeepingRecord | null {
  const isKeeping = typeof record === "object" && record !== null && "keep" in record;
  return isKeeping ? (record as unknown as KeepingRecord) : null;
}
