import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Change, DiffView, SandboxRef } from "../../../src/index.ts";
import { createDiffView } from "../../../src/index.ts";
import { Good } from "./base.ts";

/** Changes the list of a view and keeps the rest of it fitting. */
function relist(
  view: DiffView,
  change: (changes: readonly Change[]) => readonly Change[],
): DiffView {
  const { sandboxId, base } = view;
  const made = createDiffView({
    sandboxId,
    base,
    changes: change(view.changes),
    readBefore: () => Promise.resolve(null),
    readAfter: () => Promise.resolve(null),
  });
  return { ...made, text: (options) => view.text(options) };
}

/** Takes files that nobody may write for changed ones. */
export class DistrustsReadOnly extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    const isThere = existsSync(join(await this.workspacePath(ref), "odd/read-only"));
    const bogus: Change = {
      path: "odd/read-only",
      kind: "attributesChanged",
      before: null,
      after: null,
    };
    return isThere ? relist(view, (changes) => [...changes, bogus]) : view;
  }
}

/** Takes a workspace that was handed out for a changed one. */
export class DistrustsReaders extends Good {
  readonly #handedOut = new Set<string>();

  override async getPath(...args: Parameters<Good["getPath"]>): Promise<string> {
    this.#handedOut.add(args[0].sandboxId);
    return super.getPath(...args);
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    this.#handedOut.delete(ref.sandboxId);
    return super.rollback(ref);
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#handedOut.delete(ref.sandboxId);
    return super.restoreCheckpoint(ref, checkpointId);
  }

  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    const bogus: Change = { path: "a.txt", kind: "attributesChanged", before: null, after: null };
    const isBlamed = view.isEmpty && this.#handedOut.has(ref.sandboxId);
    return isBlamed ? relist(view, () => [bogus]) : view;
  }
}

/** Does not list a new folder in a new folder. */
export class MissesInnerFolders extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    return relist(await super.diff(ref), (changes) => changes.filter(({ path }) => path !== "x/y"));
  }
}

/** Lists changes in the order in which it found them. */
export class Unsorted extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    return { ...view, changes: view.changes.toReversed() };
  }
}

/** Tells wrong sizes. */
export class WrongSizes extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    const changes = view.changes.map((change) =>
      change.path === "a.txt" && change.after !== null && change.after.size > 20
        ? { ...change, after: { ...change.after, size: 0 } }
        : change,
    );
    return { ...view, changes };
  }
}

/** Says something else every time. */
export class NeverTheSame extends Good {
  #count = 0;

  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    return { ...view, summary: { ...view.summary, bytes: ++this.#count } };
  }
}

/** Leaves traces in the workspace while it looks. */
export class DiffTouches extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    if (view.changes.some(({ path }) => path === "new/link"))
      utimesSync(join(await this.workspacePath(ref), "docs"), 1, 1);
    return view;
  }
}

/** Never gets over a file that was different once. */
export class NeverForgets extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    return relist(await super.diff(ref), (changes) =>
      changes.map((change) =>
        change.kind === "attributesChanged" ? { ...change, kind: "modified" } : change,
      ),
    );
  }
}

/** Has one digest for everything. */
export class OneDigest extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    return { ...(await super.diff(ref)), digest: "0".repeat(64) };
  }
}

/** Shows nothing as text. */
export class NoText extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    return { ...(await super.diff(ref)), text: () => Promise.resolve("") };
  }
}
