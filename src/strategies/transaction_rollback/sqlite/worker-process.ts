import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  DatabaseError,
  PlatformUnsupportedError,
  SandboxCreationError,
  SandboxPathError,
} from "../../../errors/index.ts";
import { bareEnvironment } from "../../../platform/run.ts";
import { workerUrl } from "../../../platform/worker-url.ts";
import { DriftError } from "../engine.ts";
import type { IdlePool, Keepable } from "../idle-pool.ts";
import { type Answer, type Requests, type Thrown, lineOf } from "./protocol.ts";

/** The errors of the family that come back. */
const FAMILY = {
  DATABASE: DatabaseError,
  PLATFORM_UNSUPPORTED: PlatformUnsupportedError,
  SANDBOX_CREATION: SandboxCreationError,
  SANDBOX_PATH: SandboxPathError,
} as const;

/** Whether an open end keeps the process from ending; the published types of streams leave these out. */
interface KeepsProcess {
  ref(): void;
  unref(): void;
}

type Child = ChildProcessByStdio<Writable & KeepsProcess, Readable & KeepsProcess, null>;

/** The processes that are kept for the next call. */
export type IdleWorkers = IdlePool<WorkerProcess>;

/** All of them can do the same. */
const ANY = "";

/**
 * A process in which SQLite runs. Whoever starts it gives it back, and it is kept for the next call where it can be; it
 * ends by itself when this process does.
 */
export class WorkerProcess implements AsyncDisposable, Keepable {
  readonly #child: Child;
  readonly #ended: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;
  readonly #idle: IdleWorkers;
  /** Whether it has answered everything, and can answer more. */
  #isReady = true;

  private constructor(idle: IdleWorkers) {
    this.#idle = idle;
    const program = fileURLToPath(workerUrl("./worker.ts", import.meta.url));
    const child = spawn(process.execPath, ["--no-warnings", "--expose-gc", program], {
      cwd: "/",
      env: bareEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
      // What a terminal sends to all of its processes must not end a commit in the middle.
      detached: true,
    });
    this.#child = child as Child;
    // A process that is gone is told by the answer that does not come.
    this.#child.stdin.on("error", () => undefined);
    this.#ended = once(this.#child, "close").catch(() => undefined);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** One that was kept, if it still answers, or a new one. */
  static async open(idle: IdleWorkers): Promise<WorkerProcess> {
    const kept = await idle.take(ANY, (worker) => worker.ask("wake", null));
    return kept ?? new WorkerProcess(idle);
  }

  rest(): void {
    for (const part of this.#parts) part.unref();
  }

  /** Asks, and waits for the answer. */
  async ask<Kind extends keyof Requests>(
    kind: Kind,
    about: Requests[Kind][0],
  ): Promise<Requests[Kind][1]> {
    for (const part of this.#parts) part.ref();
    this.#isReady = false;
    this.#child.stdin.write(lineOf({ kind, about }));
    const line = await this.#lines.next();
    if (line.done === true) throw lost();
    const answer = JSON.parse(line.value) as Answer;
    this.#isReady = !answer.isLast;
    if ("thrown" in answer) throw revived(answer.thrown);
    return answer.value as Requests[Kind][1];
  }

  async end(): Promise<void> {
    // Somebody waits for this, so the process must not end before.
    for (const part of this.#parts) part.ref();
    this.#child.stdin.end();
    await this.#ended;
  }

  get #parts(): readonly KeepsProcess[] {
    return [this.#child, this.#child.stdin, this.#child.stdout];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#isReady ? this.#idle.give(ANY, this) : this.end());
  }
}

function revived({ message, code, hint, data, conflicts, database }: Thrown): Error {
  if (conflicts !== null) {
    const drift = new DriftError(message, conflicts);
    drift.database = database;
    return drift;
  }
  if (code === null || !Object.hasOwn(FAMILY, code)) return new Error(message);
  const Kind = FAMILY[code as keyof typeof FAMILY] as new (
    text: string,
    init: { readonly data: unknown; readonly hint?: string },
  ) => Error;
  return new Kind(message, { data, ...(hint !== null && { hint }) });
}

function lost(): DatabaseError {
  return new DatabaseError("The process for SQLite ended by itself", {
    data: { reason: "unreachable", position: null, command: null, sqlState: null },
    hint: "Try again; recover tells what became of a commit.",
  });
}
