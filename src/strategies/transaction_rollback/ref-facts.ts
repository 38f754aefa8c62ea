import type { StrategyHost } from "../../contract/host.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";

/** The name of its connection; a file of SQLite has none. */
export function connectionOf({ metadata }: SandboxRef): string {
  return typeof metadata["connection"] === "string" ? metadata["connection"] : "";
}

/** What the database is called on its server. */
export function databaseOf({ metadata }: SandboxRef): string {
  return typeof metadata["database"] === "string" ? metadata["database"] : "";
}

/** Whether the database is one file, which a command can have a copy of. */
export function isFile({ metadata }: SandboxRef): boolean {
  return metadata["engine"] === "sqlite";
}

/** Whether its commits are prepared first. */
export function canPrepare({ metadata }: SandboxRef): boolean {
  return metadata["canPrepare"] !== false;
}

/** Whether its server is gone for good: its connection was taken out of the configuration. */
export function isGone(ref: SandboxRef, host: StrategyHost): boolean {
  return !isFile(ref) && !host.connections().has(connectionOf(ref));
}
