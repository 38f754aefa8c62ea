import { rm } from "node:fs/promises";
import type { Upload } from "./bucket.ts";
import { appendLines, linesOf, replaceFile, textOf } from "./durable-files.ts";

/** What is known about one key of a transaction. */
export interface Step {
  /** Sent, and not seen by anybody before it is completed. */
  readonly upload?: Upload;
  /** The version, or the marker of a deletion, that the transaction made. */
  readonly versionId?: string;
  /** What somebody else put there at the last moment, and our version lies upon. */
  readonly shelved?: string;
  /** It is about to be taken back, or is. */
  readonly reversed?: true;
}

/** What stands at the beginning: what was under way before, so that it is never taken for ours. */
export interface Beginning {
  /** Names the versions that the transaction makes. */
  readonly maker: string;
  /** The uploads of others to the same keys. */
  readonly others: readonly string[];
}

/** What a transaction did in the bucket so far, key by key; always written before what it allows. */
export class TransactionLog {
  readonly file: string;
  #last: Promise<void> = Promise.resolve();
  /** Lines of several keys wait for the same turn, so that one sync serves all of them. */
  #waiting: string[] = [];
  #turn: Promise<void> | null = null;

  constructor(file: string) {
    this.file = file;
  }

  async begin(beginning: Beginning): Promise<void> {
    await replaceFile(this.file, `${JSON.stringify(beginning)}\n`);
  }

  /** Null when the transaction never began, or is forgotten. */
  async beginning(): Promise<Beginning | null> {
    if ((await textOf(this.file)) === null) return null;
    const [first] = await linesOf(this.file);
    return first === undefined ? null : (JSON.parse(first) as Beginning);
  }

  /** Adds to what is known about a key; durable when the promise settles. */
  note(key: string, step: Step): Promise<void> {
    this.#waiting.push(JSON.stringify([key, step]));
    if (this.#turn !== null) return this.#turn;
    const turn = this.#last.then(() => {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#turn = null;
      return appendLines(this.file, lines);
    });
    this.#turn = turn;
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async steps(): Promise<ReadonlyMap<string, Step>> {
    const steps = new Map<string, Step>();
    for (const line of (await linesOf(this.file)).slice(1)) {
      const [key, step] = JSON.parse(line) as [string, Step];
      steps.set(key, { ...steps.get(key), ...step });
    }
    return steps;
  }

  async remove(): Promise<void> {
    await rm(this.file, { force: true });
  }
}
