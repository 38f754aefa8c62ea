// A tracer for the tests: runs a program and ends it, or lets one call fail, at the n-th system call
// of any of its threads and children that changes something in the given folders. Other than with
// strace, which counts for each thread, the same n is the same moment in each run.
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  readlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { posix } from "node:path";
import { CallNames } from "./call-name.ts";
import { MUTATING_CALLS } from "./calls.ts";
import { mutatingCallsFilter } from "./filter.ts";
import {
  type AtCall,
  callOf,
  goOn,
  installFilter,
  nextNotice,
  preventCall,
  replaceResult,
  seize,
  stopBy,
} from "./ptrace.ts";
import { ImageKeeper } from "./image-keeper.ts";
import { type TraceOrder, type TraceReport, stoppedFile } from "./order.ts";

if (process.arch !== "x64") throw new Error("the tracer knows the calls of x86-64 only");
const [orderText = "", ...command] = process.argv.slice(2);
const order = JSON.parse(orderText) as TraceOrder;

/** What also works where nothing can be changed any more. */
const WITHOUT_CHANGE = ["openat2", "flock"];
const AT_FDCWD = 0xffff_ff9c;
const O_CREAT = 0o100n;
/** How paths are given to calls that know no descriptors. */
const BY_DESCRIPTOR = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/s;
const keeper = order.keep === undefined ? undefined : new ImageKeeper(order.keep);
const report: { points: TraceReport["points"][number][]; fired: boolean; left: number[] } = {
  points: [],
  fired: false,
  left: [],
};
const names = order.without === undefined ? undefined : new CallNames(order.without.folder);
const isDeadly = order.result === undefined && order.stops !== true;
const sparesSome = order.sparesChildren === true || order.sparesProgram === true;
const alive = new Set<number>();
const pending = new Map<number, number>();
/** A child that stands still while the program is being killed. */
let orphan: number | null = null;
/** Whether only the calls stop that may change something; null until that is known. */
let isFiltered: boolean | null = null;

// The program waits behind a gate until it is traced; whoever opens a pipe both ways never waits.
const gate = `${order.report}.gate`;
execFileSync("mkfifo", [gate]);
const gateDescriptor = openSync(gate, "r+");
const wait = ["-c", 'read -r go < "$0"; exec "$@"', gate, ...command];
const child = spawn("sh", wait, { stdio: "inherit" });
const { pid } = child;
// Its end is seen below, before Node could hear of it.
child.unref();
if (pid === undefined) throw new Error("sh does not start");
seize(pid);
writeSync(gateDescriptor, "\n");

let end: { code: number } | { signal: number } = { code: 1 };
for (let notice = nextNotice(); notice !== undefined; notice = nextNotice()) {
  if (notice.exited !== undefined) {
    alive.delete(notice.thread);
    if (notice.thread === pid) {
      end = notice.exited;
      // Only now nothing is left of the program, its locks included.
      if (orphan !== null) writeFileSync(stoppedFile(order.report), String(orphan));
    }
    continue;
  }
  alive.add(notice.thread);
  // A child that was just being born when the others were killed.
  if (report.fired && isDeadly && !sparesSome) killIfThere(notice.thread);
  const call = callOf(notice);
  if (call?.entering === true && isFiltered === null) {
    // The gate is still closed: the first call of the program itself is met with the filter.
    isFiltered = installFilter(notice.thread, mutatingCallsFilter());
  } else if (call !== undefined) meet(notice.thread, call);
  goOn(notice, isFiltered === true && !pending.has(notice.thread) ? "filtered" : "call");
}

keeper?.keep();
writeFileSync(order.report, JSON.stringify({ ...report, copies: keeper?.count }));
if ("signal" in end) process.kill(process.pid, end.signal);
else process.exitCode = end.code;

function meet(thread: number, call: AtCall): void {
  const result = pending.get(thread);
  if (!call.entering) {
    if (result !== undefined) replaceResult(thread, result);
    pending.delete(thread);
    return;
  }
  const known = MUTATING_CALLS.get(call.number);
  if (known === undefined || !isEffective(call, known.onlyIf)) return;
  const paths = known.operands.map((operand) => pathOf(thread, call, operand));
  const isIn = (path: string, folders: readonly string[] = []): boolean =>
    folders.some((folder) => isAtOrBelow(path, folder));
  if (!paths.some((path) => isIn(path, order.touching) && !isIn(path, order.sparing))) return;
  const kept = keeper?.keep();
  const creates = isCreating(thread, call, known);
  const inChild = !existsSync(`/proc/${pid}/task/${thread}`);
  const mainThread = thread === pid;
  report.points.push({ call: known.name, paths, mainThread, creates, inChild, kept });
  if (isLeftOut(known.name, paths)) {
    report.left.push(report.points.length);
    preventCall(thread);
    pending.set(thread, 0);
  }
  if (!isMet(known.name)) return;
  report.fired = true;
  if (order.stops === true) {
    // The call is still done; on its way back every thread stops.
    const stopped = order.sparesChildren === true ? processOf(thread) : (pid ?? thread);
    stopBy(stopped, thread);
    if (order.sparesChildren === true) {
      orphan = stopped;
      killIfThere(pid);
    } else writeFileSync(stoppedFile(order.report), String(stopped));
  } else if (order.result === undefined && order.sparesChildren === true) {
    killIfThere(pid);
  } else if (order.result === undefined && order.sparesProgram === true) {
    killIfThere(processOf(thread));
  } else if (order.result === undefined) {
    // Together, as the end of a session would do it.
    for (const one of alive) killIfThere(one);
  } else {
    preventCall(thread);
    pending.set(thread, order.result);
  }
}

/** Whether the fault is due at the call that was just counted. */
function isMet(name: string): boolean {
  const { at, lasting } = order;
  if (lasting !== true || at === undefined) return report.points.length === at;
  return report.points.length >= at && !WITHOUT_CHANGE.includes(name);
}

function isLeftOut(call: string, paths: readonly string[]): boolean {
  const one = names?.next(call, paths);
  return (
    order.without?.calls.some(({ name, nth }) => name === one?.name && nth === one.nth) === true
  );
}

type Known = typeof MUTATING_CALLS extends ReadonlyMap<number, infer Call> ? Call : never;

function isEffective(call: AtCall, condition: Known["onlyIf"]): boolean {
  if (condition === undefined) return true;
  const value = Number(BigInt.asUintN(32, call.arguments[condition.argument] ?? 0n));
  if (condition.oneOf !== undefined) return condition.oneOf.includes(value);
  return (value & (condition.anyBit ?? 0)) !== 0;
}

function pathOf(thread: number, call: AtCall, operand: Known["operands"][number]): string {
  if ("descriptor" in operand)
    return linkOf(`/proc/${thread}/fd/${number(call, operand.descriptor)}`);
  const name = textAt(thread, call.arguments[operand.path] ?? 0n);
  const [, opened, rest = ""] = BY_DESCRIPTOR.exec(name) ?? [];
  if (opened !== undefined) return posix.join(linkOf(`/proc/${thread}/fd/${opened}`), rest);
  if (name.startsWith("/")) return posix.normalize(name);
  const folder = "folder" in operand ? number(call, operand.folder) : AT_FDCWD;
  const start = folder === AT_FDCWD ? `/proc/${thread}/cwd` : `/proc/${thread}/fd/${folder}`;
  return posix.join(linkOf(start), name);
}

/** Whether an open may make the file. */
function isCreating(thread: number, call: AtCall, { name, flags }: Known): boolean {
  if (name === "creat") return true;
  if (flags === undefined) return false;
  const value = call.arguments[flags.argument] ?? 0n;
  const given = flags.isPointer === true ? bytesAt(thread, value, 8).readBigUInt64LE() : value;
  return (given & O_CREAT) !== 0n;
}

function number(call: AtCall, at: number): number {
  return Number(BigInt.asUintN(32, call.arguments[at] ?? 0n));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path, "latin1");
  } catch {
    return "";
  }
}

function textAt(thread: number, address: bigint): string {
  if (address === 0n) return "";
  const memory = openSync(`/proc/${thread}/mem`, "r");
  try {
    const buffer = Buffer.alloc(4096);
    // Up to the end of the page first: what follows may not be readable.
    const inPage = 4096 - Number(address % 4096n);
    let length = readSync(memory, buffer, 0, inPage, address);
    if (!buffer.subarray(0, length).includes(0)) {
      length += readSync(memory, buffer, length, 4096 - length, address + BigInt(length));
    }
    return buffer.subarray(0, buffer.indexOf(0)).toString("latin1");
  } finally {
    closeSync(memory);
  }
}

function bytesAt(thread: number, address: bigint, length: number): Buffer {
  const memory = openSync(`/proc/${thread}/mem`, "r");
  try {
    const buffer = Buffer.alloc(length);
    readSync(memory, buffer, 0, length, address);
    return buffer;
  } finally {
    closeSync(memory);
  }
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function processOf(thread: number): number {
  const status = readFileSync(`/proc/${thread}/status`, "latin1");
  return Number(/^Tgid:\s*(\d+)$/m.exec(status)?.[1] ?? thread);
}

function killIfThere(thread: number | undefined): void {
  try {
    if (thread !== undefined) process.kill(thread, "SIGKILL");
  } catch {
    // Gone already with the process it belongs to.
  }
}
