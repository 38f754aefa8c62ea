import type { NamedCall } from "./call-name.ts";

/** What the tracer is told. */
export interface TraceOrder {
  /** File for the report. */
  readonly report: string;
  /** The folders whose calls count. */
  readonly touching: readonly string[];
  /** Folders among them whose calls do not. */
  readonly sparing?: readonly string[];
  /** At which of these calls the fault happens, from one; no fault when left out. */
  readonly at?: number;
  /** Calls that are left out: they seem to succeed. */
  readonly without?: CallsByName;
  /** What the call gives back instead of being done; everything is killed when left out. */
  readonly result?: number;
  /** Whether only the program itself is killed, and the children that it started go on. */
  readonly sparesChildren?: boolean;
  /** Whether only the child that makes the call is killed, and the program goes on. */
  readonly sparesProgram?: boolean;
  /** Whether every later call that changes something gives back the same. */
  readonly lasting?: boolean;
  /**
   * Whether the program is stopped there instead; its number is then in a file beside the report. Where children are
   * spared, the one that makes the call is stopped and the program is killed.
   */
  readonly stops?: boolean;
  /** What is kept of disks on the way. */
  readonly keep?: KeepOrder;
}

/** Calls, told by their names. */
export interface CallsByName {
  readonly calls: readonly NamedCall[];
  /** The folder of the run, which their names do not have. */
  readonly folder: string;
}

/** Disks whose images are copied before each call that counts, and at the end, when something was written to them. */
export interface KeepOrder {
  /** The images; they lie on a file system that copies by sharing. */
  readonly images: readonly string[];
  /** For each image the file in which the kernel counts what is written to its device. */
  readonly counters: readonly string[];
  /** Where the copies go, as `<number>-<place of the image>`, both from zero. */
  readonly into: string;
  /** A folder whose file system is written out before each copy. */
  readonly flushing?: string;
}

/** What the tracer saw. */
export interface TraceReport {
  readonly points: readonly {
    readonly call: string;
    readonly paths: readonly string[];
    readonly mainThread: boolean;
    /** Whether it is an open that may make the file. */
    readonly creates: boolean;
    /** Whether a child of the program makes it, and not the program. */
    readonly inChild: boolean;
    /** The number of the copies that show the disks before the call. */
    readonly kept?: number | undefined;
  }[];
  readonly fired: boolean;
  /** The calls that were left out, by their places among the points, from one. */
  readonly left: readonly number[];
  /** How many copies were made; the last one shows the disks when the program had ended. */
  readonly copies?: number;
}

/** Where the tracer writes the number of a process that it stopped. */
export function stoppedFile(report: string): string {
  return `${report}.stopped`;
}
