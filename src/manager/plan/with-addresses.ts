import type { SandboxAddress } from "../../contract/strategy.ts";

/**
 * An environment with the addresses of sandboxes. Each variable is there twice: with the name of its resource behind it,
 * and plainly, as programs know it, for the first resource of the plan that has it.
 */
export function withAddresses(
  env: Readonly<Record<string, string | undefined>>,
  members: readonly { readonly resourceId: string; readonly address: SandboxAddress }[],
): Record<string, string | undefined> {
  const given: Record<string, string | undefined> = {};
  for (const { resourceId, address } of members) {
    for (const [name, value] of Object.entries(address.environment)) {
      if (!(name in given)) given[name] = value ?? undefined;
      if (value !== null) given[`${name}_${suffixOf(resourceId)}`] ??= value;
    }
  }
  return { ...env, ...given };
}

/** A resource as the end of a variable's name. */
function suffixOf(resourceId: string): string {
  return resourceId.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
}
