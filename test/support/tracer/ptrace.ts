import koffi from "koffi";

/** A stop or the end of one traced thread. */
export interface Notice {
  readonly thread: number;
  readonly exited?: { readonly code: number } | { readonly signal: number };
  /** Signal that stopped it; with the bit 0x80 when it stands at a system call. */
  readonly signal: number;
  /** What happened to it, such as a clone or an exec; zero for signals and system calls. */
  readonly event: number;
}

/** Where a thread stands at a system call, as the kernel describes it. */
export interface AtCall {
  readonly entering: boolean;
  readonly number: number;
  readonly arguments: readonly bigint[];
}

const REQUEST = {
  pokeUser: 6,
  untilCall: 24,
  seize: 0x4206,
  interrupt: 0x4207,
  listen: 0x4208,
  callInformation: 0x420e,
} as const;
// Marked calls, children and threads followed, everything ended with the tracer.
const OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x10_0000;
const WAIT_ALL = 0x4000_0000;
const EVENT_STOP = 128;
/** Offsets in the x86-64 user area. */
const RAX = 80;
const ORIG_RAX = 120;

const libc = koffi.load("libc.so.6");
const ptrace = libc.func(
  "int64_t ptrace(int64_t request, int64_t pid, int64_t address, int64_t data)",
) as (request: number, pid: number, address: number, data: number) => number;
const ptraceInto = libc.func(
  "int64_t ptrace(int64_t request, int64_t pid, int64_t size, void *data)",
) as (request: number, pid: number, size: number, data: Buffer) => number;
const waitpid = libc.func("int waitpid(int pid, void *status, int options)") as (
  pid: number,
  status: Buffer,
  options: number,
) => number;

const tgkill = libc.func("int tgkill(int pid, int thread, int signal)") as (
  pid: number,
  thread: number,
  signal: number,
) => number;
const SIGSTOP = 19;

const status = Buffer.alloc(4);
const information = Buffer.alloc(88);

/** Takes hold of a process with one thread and stops it; the next notice tells so. */
export function seize(pid: number): void {
  if (ptrace(REQUEST.seize, pid, 0, OPTIONS) !== 0) throw new Error(`cannot trace ${pid}`);
  ptrace(REQUEST.interrupt, pid, 0, 0);
}

/** Stops a whole process by this thread: it makes no further call, whatever the others do first. */
export function stopBy(pid: number, thread: number): void {
  // One of a child's threads cannot stop its parent.
  if (tgkill(pid, thread, SIGSTOP) !== 0) process.kill(pid, "SIGSTOP");
}

/** Waits for the next notice of any traced thread; undefined when there is none left. */
export function nextNotice(): Notice | undefined {
  const thread = waitpid(-1, status, WAIT_ALL);
  if (thread < 0) return undefined;
  const value = status.readUInt32LE();
  const low = value & 0x7f;
  if (low === 0) return { thread, exited: { code: (value >> 8) & 0xff }, signal: 0, event: 0 };
  if (low !== 0x7f) return { thread, exited: { signal: low }, signal: 0, event: 0 };
  return { thread, signal: (value >> 8) & 0xff, event: value >>> 16 };
}

/** Lets a stopped thread go on to its next system call, with the signal it was about to get. */
export function goOn(notice: Notice): void {
  const isSignal = notice.event === 0 && notice.signal !== (5 | 0x80);
  // A stop of the whole process by SIGSTOP and the like is kept; the first stop of a thread is not.
  const isKept = notice.event === EVENT_STOP && notice.signal !== 5;
  if (isKept) ptrace(REQUEST.listen, notice.thread, 0, 0);
  else ptrace(REQUEST.untilCall, notice.thread, 0, isSignal ? notice.signal : 0);
}

/** The system call at which a thread stands; undefined when it is gone or stands elsewhere. */
export function callOf(notice: Notice): AtCall | undefined {
  if (notice.signal !== (5 | 0x80)) return undefined;
  const filled = ptraceInto(
    REQUEST.callInformation,
    notice.thread,
    information.length,
    information,
  );
  const kind = information[0];
  if (filled <= 0 || (kind !== 1 && kind !== 2)) return undefined;
  if (kind === 2) return { entering: false, number: -1, arguments: [] };
  const values = [0, 1, 2, 3, 4, 5].map((at) => information.readBigUInt64LE(32 + at * 8));
  return { entering: true, number: Number(information.readBigUInt64LE(24)), arguments: values };
}

/** Makes the call at whose entry a thread stands do nothing. */
export function preventCall(thread: number): void {
  ptrace(REQUEST.pokeUser, thread, ORIG_RAX, -1);
}

/** Replaces the result of the call at whose exit a thread stands. */
export function replaceResult(thread: number, value: number): void {
  ptrace(REQUEST.pokeUser, thread, RAX, value);
}
