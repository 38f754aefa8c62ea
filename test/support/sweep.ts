import {
  aimAgain,
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
 * One that is missed, because the program does not always do the same, is aimed at anew; four times, and it is an error.
 */
export async function sweep<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
): Promise<FaultPoint[]> {
  const points = await faultPoints(await options.prepare());
  if (points.length === 0) throw new Error("the program changes nothing in the folders");
  const chosen = options.choose?.(points) ?? points;
  const tried: FaultPoint[] = [];
  for (const point of chosen) {
    const { prepared, run, hitPoint } = await hit(options, point, points.length);
    await options.check(prepared, run, hitPoint);
    tried.push(hitPoint);
  }
  return tried;
}

async function hit<Prepared extends TracedProgram>(
  options: Sweep<Prepared>,
  point: FaultPoint,
  listed: number,
): Promise<{ prepared: Prepared; run: FaultedRun; hitPoint: FaultPoint }> {
  let aim = point;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const prepared = await options.prepare();
    const run = await runWithFault(prepared, aim, options.fault);
    if (run.fired) return { prepared, run, hitPoint: aim };
    aim = aimAgain(point, listed, run) ?? point;
  }
  throw new Error(`missed ${ATTEMPTS} times: ${point.at} ${point.call} ${point.paths.join(" ")}`);
}
