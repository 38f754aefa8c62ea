import {
  faultPoints,
  runWithFault,
  type Fault,
  type FaultPoint,
  type FaultedRun,
  type TracedProgram,
} from "./faults.ts";

/** One operation that is disturbed at each of its points. */
export interface Sweep<Prepared extends TracedProgram> {
  /** Makes fresh resources and names the program that works on them. */
  readonly prepare: () => Prepared | Promise<Prepared>;
  readonly fault: Fault;
  /** Looks at what is left; throws when it is wrong. */
  readonly check: (prepared: Prepared, run: FaultedRun, point: FaultPoint) => void | Promise<void>;
  /** Which of the points are tried; all of them unless given. */
  readonly choose?: (points: readonly FaultPoint[]) => readonly FaultPoint[];
}

const ATTEMPTS = 4;

/**
 * Disturbs the operation at each point and checks what is left. Returns the points that were tried.
 * One that is missed four times, because the program does not always do the same, is an error.
 */
export async function sweep<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
): Promise<FaultPoint[]> {
  const points = await faultPoints(await options.prepare());
  if (points.length === 0) throw new Error("the program changes nothing in the folders");
  const chosen = options.choose?.(points) ?? points;
  for (const point of chosen) {
    const { prepared, run } = await hit(options, point);
    await options.check(prepared, run, point);
  }
  return [...chosen];
}

async function hit<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
  point: FaultPoint,
): Promise<{ prepared: Prepared; run: FaultedRun }> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const prepared = await options.prepare();
    const run = await runWithFault(prepared, point, options.fault);
    if (run.fired) return { prepared, run };
  }
  throw new Error(`missed ${ATTEMPTS} times: ${point.at} ${point.call} ${point.paths.join(" ")}`);
}
