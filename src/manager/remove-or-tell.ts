import { describeThrown } from "../errors/index.ts";
import type { Engine } from "./engine.ts";

/**
 * Removes what nobody needs any more; where that fails, it only is told: what stays is space, and waits for the next
 * time.
 */
export async function removeOrTell(
  engine: Engine,
  what: string,
  remove: () => Promise<void> | undefined,
): Promise<void> {
  try {
    await remove();
  } catch (thrown) {
    engine.emit("leftovers.kept", { what, reason: describeThrown(thrown) }, "warning");
  }
}
