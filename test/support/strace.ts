import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runChild, startChild, type ChildOptions, type ChildResult } from "./child.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

/** The n-th call of one kind that a thread of the program makes. */
export interface FaultPoint {
  /** Name of the system call. */
  readonly call: string;
  /** Counted for each thread and each kind of call, from one, as strace counts. */
  readonly occurrence: number;
  /** Whether it was the program's first thread, whose calls alone can be counted exactly. */
  readonly mainThread: boolean;
  /** The line of the trace, to tell people where it was. */
  readonly line: string;
}

/** What happens to the program at a point: it dies before the call, or the call fails. */
export type Fault = { readonly signal: "KILL" } | { readonly error: string };

/** A program of the tests that is traced. */
export interface TracedProgram {
  readonly program: string | URL;
  readonly args: readonly string[];
  /** The folders whose calls matter. */
  readonly touching: readonly string[];
  /** The program calls `waitForGo` (see `./go.ts`), and only what it does after that counts. */
  readonly waitsForGo?: boolean;
  readonly options?: Omit<ChildOptions, "wrapper" | "input">;
}

/** How a run with a fault went. */
export interface FaultedRun extends ChildResult {
  /** Whether the fault met a call that touches the folders. */
  readonly fired: boolean;
}

const MUTATING_CALLS = [
  ...["rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"],
  ...["unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "mknod", "mknodat"],
  ...["open", "openat", "openat2", "creat"],
  ...["write", "writev", "pwrite64", "pwritev", "pwritev2", "copy_file_range", "sendfile", "ioctl"],
  ...["truncate", "ftruncate", "fallocate"],
  ...["chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"],
  ...["utime", "utimes", "utimensat", "futimesat"],
  ...["setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"],
  ...["mount", "umount2", "move_mount", "fsync", "fdatasync", "syncfs", "sync", "flock"],
];
// The question mark lets strace pass over calls that this architecture does not have.
const TRACE_SET = `trace=${MUTATING_CALLS.map((name) => `?${name}`).join(",")}`;

/** Runs the program undisturbed and lists each call that changes something in the folders. */
export async function faultPoints(traced: TracedProgram): Promise<FaultPoint[]> {
  const { result, trace, mainThread } = await runTraced(traced, ["-f", "-e", TRACE_SET]);
  if (result.code !== 0) {
    throw new Error(`the program fails without any fault: ${result.code} ${result.stderr}`);
  }
  return parsePoints(trace, traced.touching, mainThread);
}

/** Runs the program with one fault. Callers assert `fired`: a fault that misses proves nothing. */
export async function runWithFault(
  traced: TracedProgram,
  point: Pick<FaultPoint, "call" | "occurrence" | "mainThread">,
  fault: Fault,
): Promise<FaultedRun> {
  const effect = "signal" in fault ? `signal=${fault.signal}` : `error=${fault.error}`;
  // Not with --seccomp-bpf: strace then ignores injected signals in silence.
  const { result, trace } = await runTraced(traced, [
    // The counter runs in each thread; where only the first one is traced, no other can be hit.
    ...(point.mainThread ? [] : ["-f"]),
    ...["-e", `trace=${point.call}`],
    ...["-e", `inject=${point.call}:${effect}:when=${point.occurrence}`],
  ]);
  return { ...result, fired: hasFired(trace, point.call, fault, traced.touching) };
}

/**
 * Reads the output of `strace -f -y`: one entry for each call that touches one of the folders. The
 * main thread is the one that strace started, hence the first in the trace, unless given.
 */
export function parsePoints(
  trace: string,
  touching: readonly string[],
  main = /^\d+/.exec(trace)?.[0],
): FaultPoint[] {
  const counters = new Map<string, number>();
  const points = new Map<string, FaultPoint>();
  for (const whole of trace.split("\n")) {
    const [, thread, line = "", call = ""] = /^(\d+) +((\w+)\(.*)$/.exec(whole) ?? [];
    if (thread === undefined) continue;
    const occurrence = (counters.get(`${thread} ${call}`) ?? 0) + 1;
    counters.set(`${thread} ${call}`, occurrence);
    if (!touches(line, touching) || !isMutation(call, line)) continue;
    const mainThread = thread === main;
    const key = `${call}:${occurrence}:${mainThread}`;
    if (!points.has(key)) points.set(key, { call, occurrence, mainThread, line });
  }
  return [...points.values()];
}

function isMutation(call: string, line: string): boolean {
  if (/^(open|openat|openat2)$/.test(call)) return /\bO_(CREAT|TRUNC|TMPFILE)\b/.test(line);
  if (call === "ioctl") return /\b(FICLONE|FICLONERANGE|FS_IOC_SETFLAGS)\b/.test(line);
  return true;
}

function hasFired(trace: string, call: string, fault: Fault, touching: readonly string[]): boolean {
  const lines = trace.split("\n");
  if ("error" in fault) {
    return lines.some((line) => line.endsWith("(INJECTED)") && touches(line, touching));
  }
  const died = lines.some((line) => line.endsWith("+++ killed by SIGKILL +++"));
  const last = lines.findLast((line) => line.includes(`${call}(`)) ?? "";
  return died && touches(last, touching);
}

function touches(line: string, folders: readonly string[]): boolean {
  return folders.some((folder) => line.includes(folder));
}

async function runTraced(
  traced: TracedProgram,
  expressions: readonly string[],
): Promise<{ result: ChildResult; trace: string; mainThread?: string }> {
  const { program, args } = traced;
  const folder = createTempFolder({ mode: traced.options?.uid === undefined ? 0o700 : 0o777 });
  try {
    const log = join(folder, "trace");
    const strace = ["strace", "-y", "-o", log, ...expressions];
    // One thread for asynchronous file calls, so that the counters are the same in each run.
    const env = { UV_THREADPOOL_SIZE: "1", ...traced.options?.env };
    const options = { ...traced.options, env };
    const { result, mainThread } = traced.waitsForGo
      ? await attachAndGo(strace, program, args, options)
      : { result: await runChild(program, args, { ...options, wrapper: [...strace, "-q"] }) };
    const trace = readFileSync(log, "latin1");
    return { result, trace, ...(mainThread !== undefined && { mainThread }) };
  } finally {
    removeFolder(folder);
  }
}

async function attachAndGo(
  strace: readonly string[],
  program: string | URL,
  args: readonly string[],
  options: ChildOptions,
): Promise<{ result: ChildResult; mainThread: string | undefined }> {
  const child = await startChild(program, args, options);
  await once(child.process.stderr, "readable");
  const [command = "", ...rest] = strace;
  const mainThread = String(child.process.pid);
  const tracer = spawn(command, [...rest, "-p", mainThread], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(tracer, "close");
  await once(tracer.stderr, "data");
  child.process.stdin.end("go");
  tracer.stderr.resume();
  const result = await child.result;
  await ended;
  return { result, mainThread };
}
