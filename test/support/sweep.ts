import {
  faultPoints,
  runWithFault,
  type Fault,
  type FaultPoint,
  type FaultedRun,
  type TracedProgram,
} from "./strace.ts";

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
 * Disturbs the operation at each point and checks what is left. Returns the points that fired, which
 * are all that were chosen: one that is missed four times, because its counter drifts, is an error.
 */
export async function sweep<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
): Promise<FaultPoint[]> {
  const points = await faultPoints(await options.prepare());
  if (points.length === 0) throw new Error("the program changes nothing in the folders");
  const chosen = options.choose?.(points) ?? points;
  for (const point of chosen) {
    const { prepared, run } = await hit(options, point, points.indexOf(point));
    await options.check(prepared, run, point);
  }
  return [...chosen];
}

async function hit<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
  first: FaultPoint,
  at: number,
): Promise<{ prepared: Prepared; run: FaultedRun }> {
  let point = first;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const prepared = await options.prepare();
    const run = await runWithFault(prepared, point, options.fault);
    if (run.fired) return { prepared, run };
    const again = await faultPoints(await options.prepare());
    point = again[at]?.call === first.call ? again[at] : first;
  }
  throw new Error(`missed ${ATTEMPTS} times: ${first.call}:${first.occurrence} ${first.line}`);
}
