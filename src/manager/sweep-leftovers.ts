import { PlanBusyError } from "../errors/index.ts";
import type { Creation } from "../journal/creation-record.ts";
import type { LeftDraft } from "../journal/plan-draft.ts";
import { acquireLock, type FileLock } from "../locks/file-lock.ts";
import { isErrno } from "../platform/native/native-error.ts";
import { type Engine, type Guarded, guardedOf } from "./engine.ts";
import { removeOrTell } from "./remove-or-tell.ts";

/**
 * Clears away what dead processes left of sandboxes that never came to be, and of what was already being removed.
 * Nothing that a living process makes is touched. What cannot be cleared now waits for the next time.
 */
export async function sweepLeftovers(engine: Engine): Promise<void> {
  await removeOrTell(engine, "removed", () => {
    engine.log.sweep();
    engine.store.sweepRemoved();
    return Promise.resolve();
  });
  for (const draft of engine.store.drafts())
    await removeOrTell(engine, draft.lockFile, () => sweepDraft(engine, draft));
  await removeOrTell(engine, "owners", () => engine.owners.sweep());
  await removeOrTell(engine, "runs", () => Promise.resolve(engine.runs.sweep()));
  for (const creation of engine.store.creations())
    await removeOrTell(engine, creation.sandboxId, () => sweepCreation(engine, creation));
  for (const { lockFile, remove } of engine.store.emptyPlans()) {
    await removeOrTell(engine, lockFile, async () => {
      await using lock = await lockAtOnce(lockFile);
      if (lock !== null) await remove();
    });
  }
}

/** Removes everything that a creation may have made, then its mark. The caller holds the plan's lock. */
export async function discardCreation({ engine, raw }: Guarded, creation: Creation): Promise<void> {
  const { planId, sandboxId, resource } = creation;
  await raw.discardCreation?.(planId, resource, sandboxId);
  engine.store.endCreation(creation);
}

async function sweepDraft(engine: Engine, draft: LeftDraft): Promise<void> {
  await using lock = await lockAtOnce(draft.lockFile);
  if (lock === null) return;
  for (const { planId, sandboxId, strategyName, resource } of draft.creations()) {
    const { raw } = await guardedOf(engine, strategyName);
    await raw.discardCreation?.(planId, resource, sandboxId);
    engine.emit("creation.discarded", { planId, sandboxId, strategyName });
  }
  draft.remove();
}

async function sweepCreation(engine: Engine, creation: Creation): Promise<void> {
  const { planId, sandboxId, strategyName } = creation;
  await using lock = await lockAtOnce(engine.store.lockFile(planId));
  if (lock === null || !engine.store.hasCreation(creation)) return;
  if (engine.store.get(creation) === null) {
    await discardCreation(await guardedOf(engine, strategyName), creation);
    engine.emit("creation.discarded", { planId, sandboxId, strategyName });
  } else {
    engine.store.endCreation(creation);
  }
  await engine.store.removeIfEmpty(planId);
}

/** The lock, unless somebody holds it or its plan is gone. */
async function lockAtOnce(file: string): Promise<FileLock | null> {
  try {
    return await acquireLock(file, { exclusive: true, timeoutMs: 0 });
  } catch (error) {
    if (error instanceof PlanBusyError || isErrno(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}
