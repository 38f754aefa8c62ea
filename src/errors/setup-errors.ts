import { SandboxError } from "./sandbox-error.ts";

/** No strategy has this name. */
export class StrategyNotFoundError extends SandboxError<{
  readonly name: string;
  readonly available: readonly string[];
  /** Where the name was written, when it came from a configuration file. */
  readonly keyPath?: string;
}> {
  readonly code = "STRATEGY_NOT_FOUND";
}

/** A class does not fulfil the strategy contract; every problem is listed at once. */
export class StrategyValidationError extends SandboxError<{
  readonly missing: readonly string[];
  readonly notCallable: readonly string[];
  readonly problems: readonly string[];
}> {
  readonly code = "STRATEGY_VALIDATION";
}

/** A strategy's module could not be found, was not allowed, or failed while loading. */
export class StrategyLoadError extends SandboxError<{
  readonly module: string;
  readonly exportName: string;
  readonly reason?: "malformed" | "notAllowed" | "notFound" | "failed" | "noExport" | "taken";
}> {
  readonly code = "STRATEGY_LOAD";
}

/** The strategy does not fit the type of the resource. */
export class UnsupportedStrategyError extends SandboxError<{
  readonly resourceType: string;
  readonly strategyName: string;
  readonly allowed: readonly string[];
}> {
  readonly code = "UNSUPPORTED_STRATEGY";
}

/** One wrong place in a configuration file. */
export interface ConfigurationProblem {
  readonly keyPath: string;
  /** Counted from 1; left out when the place is not known. */
  readonly line?: number;
  readonly found: string;
  readonly expected: string;
}

/** The configuration is wrong; all problems are listed at once. */
export class ConfigurationError extends SandboxError<{
  readonly file: string;
  readonly problems: readonly ConfigurationProblem[];
}> {
  readonly code = "CONFIGURATION";
}

/** This machine cannot do what is needed. */
export class PlatformUnsupportedError extends SandboxError<{
  readonly what: string;
  readonly reason: string;
}> {
  readonly code = "PLATFORM_UNSUPPORTED";
}

/** A durable record is damaged or from a newer release; nothing was guessed from it. */
export class RecordDamagedError extends SandboxError<{
  readonly file: string;
  readonly reason: "checksum" | "truncated" | "malformed" | "newerFormat" | "foreignOwner";
}> {
  readonly code = "RECORD_DAMAGED";
}

/** A database file inside a directory is in use; publishing over it would corrupt it. */
export class DatabaseInUseError extends SandboxError<{ readonly path: string }> {
  readonly code = "DATABASE_IN_USE";
}

/** A statement, or the connection to a database, failed or was refused; the database is as before the call. */
export class DatabaseError extends SandboxError<{
  readonly reason:
    /** It would end the transaction of the sandbox. */
    | "endsTransaction"
    /** The server runs it outside of transactions only. */
    | "outsideTransaction"
    /** It would change the session, which ends with the call. */
    | "session"
    /** What it does would not be taken back, or not be repeated. */
    | "sideEffect"
    /** What it did cannot be recorded row by row. */
    | "notCaptured"
    /** The server refused it. */
    | "failed"
    /** The server could not be reached, or the connection was lost. */
    | "unreachable"
    /** The connection leads to another database than the sandbox was made for. */
    | "otherDatabase";
  /** The number of the statement in the script, from 1; null when it was none of them. */
  readonly position: number | null;
  /** Its first word. */
  readonly command: string | null;
  /** The server's own code. */
  readonly sqlState: string | null;
  /** The private copy with edits of a command that were not taken into the sandbox; absent where there is none. */
  readonly keptAt?: string;
}> {
  readonly code = "DATABASE";
}
