import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RecordDamagedError } from "../errors/index.ts";
import { isErrno, throwUnlessErrno } from "../platform/native/native-error.ts";
import { CREATION, type Creation } from "./creation-record.ts";
import { removeIfPossible, removeTemporaries, syncFolder } from "./durable-file.ts";
import { fileNameOf, idKey } from "./id-key.ts";
import {
  createRecord,
  hasFields,
  readRecordSync,
  type RecordFormat,
  writeRecord,
} from "./record-file.ts";
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

interface PlanRecord {
  readonly planId: string;
}

const PLAN: RecordFormat<PlanRecord> = {
  name: "plan",
  version: 1,
  isData: (value): value is PlanRecord => hasFields(value, { planId: "string" }),
};

/** Names of marks: hidden, so that nobody takes them for sandboxes. */
const MAKING = ".making-";

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
    if (readRecordSync(join(folder, "plan.json"), PLAN) !== null) return;
    mkdirSync(join(folder, "sandboxes"), { recursive: true, mode: 0o700 });
    await createRecord(join(folder, "plan.json"), PLAN, { planId });
    await syncFolder(this.#plans);
  }

  /** The record of one sandbox; null when there is none. */
  get({ planId, sandboxId }: SandboxName): SandboxRecord | null {
    return readRecordSync(this.#file(planId, sandboxId), SANDBOX_RECORD);
  }

  /** Writes a record durably. */
  async put(record: SandboxRecord): Promise<void> {
    const { planId, sandboxId } = record.ref;
    await writeRecord(this.#file(planId, sandboxId), SANDBOX_RECORD, record);
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
    return this.#keys().flatMap((key) => {
      const folder = join(this.#plans, key, "sandboxes");
      const marks = readNames(folder).filter((name) => name.startsWith(MAKING));
      return marks.flatMap((name) => readIfWhole(join(folder, name)) ?? []);
    });
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
    return names.every((name) => name.startsWith(".") && !name.startsWith(MAKING));
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
      if (isErrno(error, "ENOENT")) return;
      throw error;
    }
    await syncFolder(this.#plans);
    rmSync(aside, { recursive: true, force: true });
  }

  #folder(planId: string): string {
    return join(this.#plans, idKey(planId));
  }

  #mark({ planId, sandboxId }: SandboxName): string {
    return join(this.#folder(planId), "sandboxes", `${MAKING}${fileNameOf(sandboxId)}.json`);
  }

  #file(planId: string, sandboxId: string): string {
    return join(this.#folder(planId), "sandboxes", `${fileNameOf(sandboxId)}.json`);
  }
}

/** A mark that cannot be read says nothing, and stays for somebody to look at. */
function readIfWhole(file: string): Creation | null {
  try {
    return readRecordSync(file, CREATION);
  } catch (error) {
    if (error instanceof RecordDamagedError) return null;
    throw error;
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return [];
  }
}
