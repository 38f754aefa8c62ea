import { SandboxCreationError } from "../../../errors/index.ts";
import type { Session } from "./session.ts";

/** How many rows have no parent; others may have left some of them. */
export function violations(session: Session): number {
  return Number(session.value("SELECT count(*) FROM pragma_foreign_key_check"));
}

/**
 * Refuses databases that cannot be committed together with others.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `server`).
 */
export function refuseEncoding(session: Session, path: string): void {
  const encoding = session.value("PRAGMA encoding");
  if (encoding === "UTF-8") return;
  throw new SandboxCreationError(`The database ${path} is written in ${String(encoding)}`, {
    data: { stage: "server", residue: [] },
    operation: "create",
    hint: "Only databases in UTF-8, which is the default, can be committed together.",
  });
}
