import type { TracedProgram } from "../support/faults.ts";
import type { Ground } from "./ground.ts";
import type { Operation, Order } from "./order.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);

/** The program that does an operation, with the calls that matter: all on the ground, or those below some folders. */
export function tracedProgram(
  ground: Ground,
  operation: Operation,
  touching: readonly string[] = [ground.folder, ...(ground.elsewhere?.folders ?? [])],
): TracedProgram {
  const { state, begun, config } = ground;
  const order: Order = {
    state,
    ...(config !== undefined && { config }),
    // An opening that is disturbed counts from its first call.
    ...(operation.operation !== "open" && { begun }),
    ...operation,
  };
  return { program: PROGRAM, args: [JSON.stringify(order)], touching };
}
