import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type CommitOptions,
  type Json,
  SandboxConflictError,
  type SandboxRef,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good, nothing } from "./base.ts";

type ForkCall = Parameters<Good["fork"]>;

/** Keeps a file of a fork closed until somebody asks for the changes. */
export class ForksClosed extends Good {
  readonly #closed = new Set<string>();

  override async fork(...call: ForkCall): Promise<SandboxRef> {
    const ref = await super.fork(...call);
    const file = join(await this.workspacePath(ref), "new/file.txt");
    if (existsSync(file)) {
      chmodSync(file, 0o600);
      this.#closed.add(ref.sandboxId);
    }
    return ref;
  }

  override async hasChanges(ref: SandboxRef): Promise<boolean> {
    if (this.#closed.delete(ref.sandboxId))
      chmodSync(join(await this.workspacePath(ref), "new/file.txt"), 0o644);
    return super.hasChanges(ref);
  }
}

/** Takes the present state instead of the checkpoint. */
export class ForksThePresent extends Good {
  override async fork(...[source, , ...rest]: ForkCall): Promise<SandboxRef> {
    const now = this.host.ids.next();
    await super.checkpoint(source, now);
    try {
      return await super.fork(source, now, ...rest);
    } finally {
      await super.deleteCheckpoint(source, now);
    }
  }
}

/** Gives a file two names, one in each sandbox. */
export class SharesForks extends Good {
  override async fork(...call: ForkCall): Promise<SandboxRef> {
    const ref = await super.fork(...call);
    const [source, target] = [await this.workspacePath(call[0]), await this.workspacePath(ref)];
    if (existsSync(join(source, "shared.txt"))) {
      rmSync(join(target, "shared.txt"));
      linkSync(join(source, "shared.txt"), join(target, "shared.txt"));
    }
    return ref;
  }
}

/** Takes the resource as it is now for the base of the fork. */
export class ForksAnew extends Good {
  override async fork(...[source, checkpointId, planId]: ForkCall): Promise<SandboxRef> {
    const ref = await super.create(planId, await this.host.resourceOf(source));
    const from = `${this.directory(source)}/c-${checkpointId}/tree/`;
    const to = `${await this.workspacePath(ref)}/`;
    execFileSync("rsync", ["-aHAX", "--delete", "--modify-window=-1", "--", from, to]);
    return ref;
  }
}

/** Remembers who was forked. */
abstract class KnowsForks extends Good {
  protected readonly forks = new Map<string, SandboxRef>();

  override async fork(...call: ForkCall): Promise<SandboxRef> {
    const ref = await super.fork(...call);
    this.forks.set(ref.sandboxId, call[0]);
    return ref;
  }
}

/** Says that a fork committed although the other one was first. */
export class ForksOverlook extends KnowsForks {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    try {
      return await super.prepare(ref, tx, options);
    } catch (error) {
      const isFork = this.forks.has(ref.sandboxId);
      if (!(error instanceof SandboxConflictError) || !isFork) throw error;
      const [conflict] = error.data.conflicts;
      if (conflict?.path !== "a.txt") throw error;
      return nothing(tx);
    }
  }
}

/** Leaves out one file that is new in a fork. */
export class ForksAddNothing extends KnowsForks {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const { changes } = await super.diff(ref);
    const isMeant = changes.some(({ path }) => path === "docs/two.txt");
    return isMeant ? nothing(tx) : super.prepare(ref, tx, options);
  }
}

/** Takes something of the fork away when the origin goes. */
export class CleanupEndsForks extends KnowsForks {
  override async cleanup(ref: SandboxRef): Promise<void> {
    for (const [sandboxId, source] of this.forks) {
      if (source.sandboxId !== ref.sandboxId) continue;
      const tree = join(dirname(this.directory(ref)), sandboxId, "g1/tree");
      rmSync(join(tree, "new/file.txt"), { force: true });
    }
    await super.cleanup(ref);
  }
}

/** Takes something of the origin away when the fork goes. */
export class CleanupEndsOrigins extends KnowsForks {
  override async cleanup(ref: SandboxRef): Promise<void> {
    const source = this.forks.get(ref.sandboxId);
    if (source !== undefined && existsSync(this.directory(source)))
      rmSync(join(await this.workspacePath(source), "new/file.txt"), { force: true });
    await super.cleanup(ref);
  }
}

/** Keeps something of every fork. */
export class LeaksForks extends Good {
  override async fork(...call: ForkCall): Promise<SandboxRef> {
    const ref = await super.fork(...call);
    mkdirSync(`${this.directory(ref)}-more`);
    return ref;
  }
}
