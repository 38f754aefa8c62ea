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
import type { Answer, Requests, Thrown } from "./protocol.ts";

/** The errors of the family that come back. */
const FAMILY = {
  DATABASE: DatabaseError,
  PLATFORM_UNSUPPORTED: PlatformUnsupportedError,
  SANDBOX_CREATION: SandboxCreationError,
  SANDBOX_PATH: SandboxPathError,
} as const;

/** A process in which SQLite runs. Whoever starts it ends it; it ends by itself when this process does. */
export class WorkerProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const program = fileURLToPath(workerUrl("./worker.ts", import.meta.url));
    this.#child = spawn(process.execPath, ["--no-warnings", program], {
      cwd: "/",
      env: bareEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
      // What a terminal sends to all of its processes must not end a commit in the middle.
      detached: true,
    });
    // A process that is gone is told by the answer that does not come.
    this.#child.stdin.on("error", () => undefined);
    this.#ended = once(this.#child, "close").catch(() => undefined);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Asks, and waits for the answer. */
  async ask<Kind extends keyof Requests>(
    kind: Kind,
    about: Requests[Kind][0],
  ): Promise<Requests[Kind][1]> {
    this.#child.stdin.write(`${JSON.stringify({ kind, about })}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw lost();
    const answer = JSON.parse(line.value) as Answer;
    if ("thrown" in answer) throw revived(answer.thrown);
    return answer.value as Requests[Kind][1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
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
