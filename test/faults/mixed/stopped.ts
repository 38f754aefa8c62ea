import { type FaultPoint, type StoppedRun, runUntil } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import type { Ground } from "../ground.ts";
import type { Ending, Shape } from "../shape.ts";
import { tracedProgram } from "../traced-program.ts";

const ATTEMPTS = 6;

/** What is done while an operation stands still at a call, and what came of it; null when it stands elsewhere. */
export type Meanwhile = (ground: Ground, owner: StoppedRun) => Promise<Ending | null>;

/**
 * Lets an operation, or its child when it is killed itself, stand still after a call, on a ground of its own, and sees to
 * its end. The call is looked for again when it was missed: a number may differ by what the machine does besides.
 */
export async function whileStopped(
  shape: Shape,
  find: () => Promise<Pick<FaultPoint, "at" | "call">>,
  work: Meanwhile,
  how: { readonly sparesChildren?: boolean } = {},
): Promise<Ending> {
  const missed: string[] = [];
  while (missed.length < ATTEMPTS) {
    const { at, call } = await find();
    const ground = shape.makeGround();
    try {
      const operation = await shape.arrange(ground);
      const owner = await runUntil(tracedProgram(ground, operation), { at }, how);
      missed.push(`${at} ${call}`);
      if (owner === null) continue;
      try {
        const ending = await work(ground, owner);
        if (ending !== null) return ending;
      } finally {
        owner.kill();
        await owner.result;
      }
    } finally {
      removeFolder(ground.folder);
    }
  }
  throw new Error(`missed: ${missed.join(", ")}`);
}
