import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RecordDamagedError, type StrategyHost } from "cofferdam";

/** A container that a command was given and that has not been taken back yet. */
export interface RunningContainer {
  readonly name: string;
  /** Variables that came from outside: their values are no part of the system. */
  readonly variables: readonly string[];
  /** Where something was shown in it: the places themselves are nobody's change. */
  readonly places: readonly string[];
  /** Its layer is in the record already. */
  readonly isTaken: boolean;
}

/** The name that a commit has given to a system. */
export interface KeptSystem {
  readonly name: string;
  readonly image: string;
  /** The image that had the name before; null for none. */
  readonly before: string | null;
  /** Whether the commit published files too. */
  readonly hasFiles: boolean;
}

/** What is known of the system of one sandbox. */
export interface SystemState {
  /** The image that it is now; null for the one that it began with. */
  readonly system: string | null;
  /** Names of images that were made for it. */
  readonly made: readonly { readonly name: string; readonly image: string }[];
  /** The number of the next one. */
  readonly next: number;
  readonly running: RunningContainer | null;
  readonly kept: KeptSystem | null;
}

const UNUSED: SystemState = { system: null, made: [], next: 1, running: null, kept: null };
const STATE = "system.json";
const CHECKPOINT = "checkpoint-";

/** The durable record of a sandbox's system, in a folder of its own; a system that was never used has none. */
export class SystemRecord {
  readonly #folder: string;

  constructor(host: StrategyHost, sandboxId: string) {
    this.#folder = join(host.stateDirectory, "containers", sandboxId);
  }

  /** Whether a container was ever made for the sandbox. */
  get isUsed(): boolean {
    return existsSync(this.#folder);
  }

  async read(): Promise<SystemState> {
    return (await this.#load<SystemState>(STATE)) ?? UNUSED;
  }

  /** Replaces the record; it is on the disk when the promise settles. */
  async write(state: SystemState): Promise<void> {
    await this.#save(STATE, state);
  }

  /** Remembers the present system with a checkpoint. One that was never used needs no memory. */
  async keep(checkpointId: string): Promise<void> {
    if (!this.isUsed) return;
    const { system } = await this.read();
    if (system !== null) await this.#save(checkpointFile(checkpointId), { system });
  }

  /** The image of the system that a checkpoint has; null for the one that it began with. */
  async systemOf(checkpointId: string): Promise<string | null> {
    const kept = await this.#load<{ system: string }>(checkpointFile(checkpointId));
    return kept?.system ?? null;
  }

  async forget(checkpointId: string): Promise<void> {
    await rm(join(this.#folder, checkpointFile(checkpointId)), { force: true });
  }

  /** All images that a checkpoint has. */
  async keptSystems(): Promise<ReadonlySet<string>> {
    const kept = new Set<string>();
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith(CHECKPOINT) || !name.endsWith(".json")) continue;
      const { system } = (await this.#load<{ system: string }>(name)) ?? { system: null };
      if (system !== null) kept.add(system);
    }
    return kept;
  }

  /** Removes all of it. Idempotent. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    // Others may have theirs beside it.
    await rmdir(dirname(this.#folder)).catch(() => undefined);
  }

  async #load<T>(name: string): Promise<T | null> {
    const file = join(this.#folder, name);
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
    const [digest, data] = text.split("\n");
    if (data !== undefined && digest === digestOf(data)) return JSON.parse(data) as T;
    throw new RecordDamagedError(`${file} is damaged`, {
      data: { file, reason: "checksum" },
      hint: "Clean the plan up by force; what others keep of it stays.",
    });
  }

  async #save(name: string, value: unknown): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, name);
    const data = JSON.stringify(value);
    const handle = await open(`${file}.new`, "w", 0o600);
    try {
      await handle.writeFile(`${digestOf(data)}\n${data}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
    for (const folder of [this.#folder, dirname(this.#folder), dirname(dirname(this.#folder))])
      await syncFolder(folder);
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function checkpointFile(checkpointId: string): string {
  return `${CHECKPOINT}${encodeURIComponent(checkpointId)}.json`;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
