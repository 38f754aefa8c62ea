import { channel } from "node:diagnostics_channel";
import type { Clock, SandboxEvent } from "../contract/host.ts";
import { describeThrown, hideAllPasswords } from "../errors/index.ts";
import type { Json } from "../model/sandbox-ref.ts";
import { outsideOfPlans } from "./held-plans.ts";

/** Tells listeners what happened. Never throws: a listener cannot stop the work it hears about. */
export type Emit = (
  name: string,
  data: { readonly [key: string]: Json },
  level?: SandboxEvent["level"],
) => void;

/** The diagnostics channel that carries every event of every instance in this process. */
export const EVENT_CHANNEL = "cofferdam";

/** Makes the event sink of one instance. */
export function createEmit(clock: Clock, onEvent?: (event: SandboxEvent) => void): Emit {
  const published = channel(EVENT_CHANNEL);
  return (name, data, level = "info") => {
    const at = clock.now().toISOString();
    const event: SandboxEvent = { name, level, at, data: hideAllPasswords(data) };
    if (published.hasSubscribers) published.publish(event);
    try {
      if (onEvent !== undefined) outsideOfPlans(() => onEvent(event));
    } catch (error) {
      process.emitWarning(
        `A listener failed on ${name}: ${describeThrown(error)}`,
        "CofferdamWarning",
      );
    }
  };
}
