/** What the tracer is told. */
export interface TraceOrder {
  /** File for the report. */
  readonly report: string;
  /** The folders whose calls count. */
  readonly touching: readonly string[];
  /** At which of these calls the fault happens, from one; no fault when left out. */
  readonly at?: number;
  /** What the call gives back instead of being done; everything is killed when left out. */
  readonly result?: number;
  /** Whether every later call that changes something gives back the same. */
  readonly lasting?: boolean;
}

/** What the tracer saw. */
export interface TraceReport {
  readonly points: readonly {
    readonly call: string;
    readonly paths: readonly string[];
    readonly mainThread: boolean;
  }[];
  readonly fired: boolean;
}
