import { closeSync, openSync, writeSync } from "node:fs";
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
  untilStop: 7,
  getRegisters: 12,
  setRegisters: 13,
  untilCall: 24,
  seize: 0x4206,
  interrupt: 0x4207,
  listen: 0x4208,
  callInformation: 0x420e,
} as const;
// Marked calls, children and threads followed, filtered calls told, everything ended with the tracer.
const OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x10_0000;
const WAIT_ALL = 0x4000_0000;
const EVENT_FILTERED = 7;
const EVENT_STOP = 128;
const AT_CALL = 5 | 0x80;
/** Offsets in the x86-64 user area. */
const RAX = 80;
const ORIG_RAX = 120;
const REGISTERS = { rax: RAX, rdx: 96, rsi: 104, rdi: 112, origRax: ORIG_RAX, rip: 128, rsp: 152 };
const REGISTERS_SIZE = 216;
const SYS_SECCOMP = 317n;
const SET_FILTER = 1n;
/** Beneath this the stack of a program is free to be written on. */
const RED_ZONE = 128n;

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

/**
 * Lets a stopped thread go on, with the signal it was about to get: to its next system call on the way in or out, or to
 * the next one that the filter tells.
 */
export function goOn(notice: Notice, to: "call" | "filtered"): void {
  const isSignal = notice.event === 0 && notice.signal !== AT_CALL;
  // A stop of the whole process by SIGSTOP and the like is kept; the first stop of a thread is not.
  const isKept = notice.event === EVENT_STOP && notice.signal !== 5;
  if (isKept) ptrace(REQUEST.listen, notice.thread, 0, 0);
  else {
    const request = to === "call" ? REQUEST.untilCall : REQUEST.untilStop;
    ptrace(request, notice.thread, 0, isSignal ? notice.signal : 0);
  }
}

/**
 * Gives a process with one thread, which stands at the entry of a call, a filter of system calls, by letting it make
 * another call first. False when the kernel refuses; the call that it stood at is made again in any case.
 */
export function installFilter(thread: number, instructions: Buffer): boolean {
  const before = Buffer.alloc(REGISTERS_SIZE);
  ptraceInto(REQUEST.getRegisters, thread, 0, before);
  const stack = before.readBigUInt64LE(REGISTERS.rsp) - RED_ZONE;
  const program = ((stack - BigInt(instructions.length)) / 16n) * 16n;
  const header = Buffer.alloc(16);
  header.writeUInt16LE(instructions.length / 8);
  header.writeBigUInt64LE(program, 8);
  writeMemory(thread, program, instructions);
  writeMemory(thread, program - 16n, header);
  const during = Buffer.from(before);
  during.writeBigUInt64LE(SYS_SECCOMP, REGISTERS.origRax);
  during.writeBigUInt64LE(SET_FILTER, REGISTERS.rdi);
  during.writeBigUInt64LE(0n, REGISTERS.rsi);
  during.writeBigUInt64LE(program - 16n, REGISTERS.rdx);
  ptraceInto(REQUEST.setRegisters, thread, 0, during);
  ptrace(REQUEST.untilCall, thread, 0, 0);
  waitpid(thread, status, WAIT_ALL);
  const after = Buffer.alloc(REGISTERS_SIZE);
  ptraceInto(REQUEST.getRegisters, thread, 0, after);
  // Back to the instruction of the call, with its number where the instruction expects it.
  before.copy(before, REGISTERS.rax, REGISTERS.origRax, REGISTERS.origRax + 8);
  before.writeBigUInt64LE(before.readBigUInt64LE(REGISTERS.rip) - 2n, REGISTERS.rip);
  before.writeBigInt64LE(-1n, REGISTERS.origRax);
  ptraceInto(REQUEST.setRegisters, thread, 0, before);
  return after.readBigInt64LE(REGISTERS.rax) === 0n;
}

function writeMemory(thread: number, address: bigint, content: Buffer): void {
  const memory = openSync(`/proc/${thread}/mem`, "r+");
  try {
    writeSync(memory, content, 0, content.length, Number(address));
  } finally {
    closeSync(memory);
  }
}

/** The system call at which a thread stands; undefined when it is gone or stands elsewhere. */
export function callOf(notice: Notice): AtCall | undefined {
  if (notice.signal !== AT_CALL && notice.event !== EVENT_FILTERED) return undefined;
  const filled = ptraceInto(
    REQUEST.callInformation,
    notice.thread,
    information.length,
    information,
  );
  const kind = information[0];
  if (filled <= 0 || (kind !== 1 && kind !== 2 && kind !== 3)) return undefined;
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
