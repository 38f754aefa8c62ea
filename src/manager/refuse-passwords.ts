import { SandboxCreationError, findPassword } from "../errors/index.ts";

/**
 * Refuses names and settings with a password in them: they would be stored and told.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `arguments`) that says where, without the text itself.
 */
export function refusePasswords(given: unknown): void {
  const place = findPassword(given);
  if (place === null) return;
  throw new SandboxCreationError(`A password stands in ${place}; nothing of it was stored`, {
    data: { stage: "arguments", residue: [] },
    operation: "create",
    hint: "Put the URL of a database under connections in cofferdam.yaml and give its name there, or let the strategy read the password from its own place.",
  });
}
