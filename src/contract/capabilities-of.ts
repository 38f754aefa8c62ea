import type { SandboxRef } from "../model/sandbox-ref.ts";
import { type DeclaredCapabilities, withDefaults } from "./capabilities.ts";
import { capabilityProblems } from "./check-capabilities.ts";
import type { SandboxStrategy } from "./strategy.ts";

/** What a strategy promises for one sandbox. An answer that makes no sense promises nothing. */
export function capabilitiesOf(strategy: SandboxStrategy, ref: SandboxRef): DeclaredCapabilities {
  if (strategy.capabilitiesOf === undefined) return withDefaults(strategy.capabilities);
  try {
    const told = strategy.capabilitiesOf(ref);
    return withDefaults(capabilityProblems(told).length === 0 ? told : undefined);
  } catch {
    return withDefaults(undefined);
  }
}
