import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RecordDamagedError } from "../errors/index.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { CREATION, type Creation } from "./creation-record.ts";
import {
  type Replacement,
  removeIfPossible,
  removeTemporaries,
  replaceFiles,
  syncFolder,
} from "./durable-file.ts";
import { idKey } from "./id-key.ts";
import { NO_CHECKPOINTS, PLAN_CHECKPOINTS, type PlanCheckpoints } from "./plan-checkpoints.ts";
import { type LeftDraft, PlanDraft, draftsIn } from "./plan-draft.ts";
import { PLAN, creationsIn, isMark, markFile, readNames, recordFile } from "./plan-files.ts";
import { createRecord, readRecordSync, recordReplacement, writeRecord } from "./record-file.ts";
import { SANDBOX_RECORD, type SandboxRecord } from "./sandbox-record.ts";

/** Names a sandbox without saying anything about it. */
export interface SandboxName {
  readonly planId: string;
  readonly sandboxId: string;
}

/** Everything that could be read, and what could not. */
export interface StoreContent {
  /** By plan, then by creation number. */
  readonly records: readonly SandboxRecord[];
  readonly damaged: readonly RecordDamagedError[];
}

/** A plan without any sandbox, as a process leaves it that dies while it makes the first one. */
export interface EmptyPlan {
  readonly lockFile: string;
  /** Removes the plan if it still is empty; under its lock. */
  remove(): Promise<void>;
}

/** The records of all plans and sandboxes. Callers hold the plan's lock while they change something. */
export class SandboxStore {
  readonly #plans: string;

  constructor(stateDirectory: string) {
    this.#plans = join(stateDirectory, "plans");
  }

  /** The file whose lock stands for the plan. */
  lockFile(planId: string): string {
    return join(this.#folder(planId), "lock");
  }

  /** Makes the plan's folder if it is not there. Needs no lock; may meet ENOENT when another takes the plan away. */
  async ensurePlan(planId: string): Promise<void> {
    const folder = this.#folder(planId);
    if (this.hasPlan(planId)) return;
    mkdirSync(join(folder, "sandboxes"), { recursive: true, mode: 0o700 });
    const plan = createRecord(join(folder, "plan.json"), PLAN, { planId });
    await Promise.all([plan, syncFolder(this.#plans)]);
  }

  /** Begins a plan that appears whole or not at all. */
  draftPlan(planId: string): Promise<PlanDraft> {
    return PlanDraft.begin(this.#folder(planId), planId);
  }

  /** Plans that never appeared, of living processes or dead ones. */
  drafts(): LeftDraft[] {
    return draftsIn(this.#plans);
  }

  /** Whether there is a plan with this id, also one that has no sandbox yet. */
  hasPlan(planId: string): boolean {
    return readRecordSync(join(this.#folder(planId), "plan.json"), PLAN) !== null;
  }

  /** Whether there is a record of one sandbox, readable or not. */
  has({ planId, sandboxId }: SandboxName): boolean {
    return existsSync(this.#file(planId, sandboxId));
  }

  /** The record of one sandbox; null when there is none. */
  get({ planId, sandboxId }: SandboxName): SandboxRecord | null {
    return readRecordSync(this.#file(planId, sandboxId), SANDBOX_RECORD);
  }

  /** Writes records durably, all in the time of one. */
  async put(...records: readonly SandboxRecord[]): Promise<void> {
    await replaceFiles(records.map((record) => this.replacementBy(record)));
  }

  /** What the file of a sandbox is going to be, for whoever writes it together with others. */
  replacementBy(record: SandboxRecord): Replacement {
    const { planId, sandboxId } = record.ref;
    return recordReplacement(this.#file(planId, sandboxId), SANDBOX_RECORD, record);
  }

  /** Forgets a sandbox, and the plan with its last one. Durable; harmless when there is none. */
  async remove({ planId, sandboxId }: SandboxName): Promise<void> {
    const folder = this.#folder(planId);
    rmSync(this.#file(planId, sandboxId), { force: true });
    if (this.#isEmpty(folder)) return this.#removePlan(folder);
    await syncFolder(join(folder, "sandboxes"));
  }

  /** Forgets a plan that has no sandbox, as a failed creation leaves it. */
  async removeIfEmpty(planId: string): Promise<void> {
    const folder = this.#folder(planId);
    if (this.#isEmpty(folder)) await this.#removePlan(folder);
  }

  /** The checkpoints of a whole plan. */
  planCheckpoints(planId: string): PlanCheckpoints {
    return readRecordSync(this.#checkpoints(planId), PLAN_CHECKPOINTS) ?? NO_CHECKPOINTS;
  }

  /** Replaces the checkpoints of a whole plan durably. */
  async putPlanCheckpoints(planId: string, checkpoints: PlanCheckpoints): Promise<void> {
    // Drafted where `sweep` looks for what a killed process left.
    const drafts = join(this.#folder(planId), "sandboxes");
    await writeRecord(this.#checkpoints(planId), PLAN_CHECKPOINTS, checkpoints, drafts);
  }

  /** Notes durably that a sandbox is being made. */
  async beginCreation(creation: Creation): Promise<void> {
    await writeRecord(this.#mark(creation), CREATION, creation);
  }

  /** Takes the note back where that is possible: beside a record it means nothing. */
  endCreation(name: SandboxName): void {
    removeIfPossible(this.#mark(name));
  }

  /** Whether a sandbox is still noted as being made. */
  hasCreation(name: SandboxName): boolean {
    return readRecordSync(this.#mark(name), CREATION) !== null;
  }

  /** The sandboxes of all plans that are being made, by living processes or dead ones. */
  creations(): Creation[] {
    return this.#keys().flatMap((key) => creationsIn(join(this.#plans, key)));
  }

  /** The plans that have no sandbox and are not getting one. */
  emptyPlans(): EmptyPlan[] {
    const folders = this.#keys().map((key) => join(this.#plans, key));
    return folders
      .filter((folder) => this.#isEmpty(folder))
      .map((folder) => ({
        lockFile: join(folder, "lock"),
        remove: async () => {
          if (this.#isEmpty(folder)) await this.#removePlan(folder);
        },
      }));
  }

  /** The sandboxes of a plan in the order of their creation. */
  list(planId: string): SandboxRecord[] {
    const { records, damaged } = this.#read(this.#folder(planId));
    if (damaged[0] !== undefined) throw damaged[0].inContext({ planId });
    return records;
  }

  /** The sandboxes of all plans; damage in one plan hides nothing of another. */
  listAll(): StoreContent {
    const contents = this.#keys().map((key) => this.#read(join(this.#plans, key)));
    return {
      records: contents.flatMap(({ records }) => records),
      damaged: contents.flatMap(({ damaged }) => damaged),
    };
  }

  /** Removes what killed processes left half written in a plan. */
  sweep(planId: string): void {
    removeTemporaries(join(this.#folder(planId), "sandboxes"));
  }

  /** Removes plans that were being taken away when the process died. */
  sweepRemoved(): void {
    const names = readNames(this.#plans).filter((name) => name.startsWith(".old-"));
    for (const name of names) rmSync(join(this.#plans, name), { recursive: true, force: true });
  }

  #read(folder: string): { records: SandboxRecord[]; damaged: RecordDamagedError[] } {
    const records: SandboxRecord[] = [];
    const damaged: RecordDamagedError[] = [];
    for (const name of this.#names(folder)) {
      try {
        const record = readRecordSync(join(folder, "sandboxes", name), SANDBOX_RECORD);
        if (record !== null) records.push(record);
      } catch (error) {
        if (!(error instanceof RecordDamagedError)) throw error;
        damaged.push(error);
      }
    }
    return { records: records.toSorted((a, b) => a.sequence - b.sequence), damaged };
  }

  #keys(): string[] {
    return readNames(this.#plans)
      .filter((key) => !key.startsWith("."))
      .toSorted();
  }

  #isEmpty(folder: string): boolean {
    const names = readNames(join(folder, "sandboxes"));
    return names.every((name) => name.startsWith(".") && !isMark(name));
  }

  #names(folder: string): string[] {
    const names = readNames(join(folder, "sandboxes"));
    return names.filter((name) => !name.startsWith(".")).toSorted();
  }

  async #removePlan(folder: string): Promise<void> {
    // In one step, so that nobody ever finds a plan of which only a part is left.
    const aside = join(this.#plans, `.old-${randomBytes(8).toString("hex")}`);
    try {
      renameSync(folder, aside);
    } catch (error) {
      throwUnlessErrno(error, "ENOENT");
      return;
    }
    await syncFolder(this.#plans);
    rmSync(aside, { recursive: true, force: true });
  }

  #folder(planId: string): string {
    return join(this.#plans, idKey(planId));
  }

  #checkpoints(planId: string): string {
    return join(this.#folder(planId), "checkpoints.json");
  }

  #mark({ planId, sandboxId }: SandboxName): string {
    return markFile(this.#folder(planId), sandboxId);
  }

  #file(planId: string, sandboxId: string): string {
    return recordFile(this.#folder(planId), sandboxId);
  }
}
