import { hideAllPasswords, hidePasswords } from "./passwords.ts";

/** Where an error happened; everything here also appears in its JSON. */
export interface ErrorContext {
  readonly operation?: string | null | undefined;
  readonly planId?: string | null | undefined;
  readonly resourceId?: string | null | undefined;
  readonly sandboxId?: string | null | undefined;
  readonly strategyName?: string | null | undefined;
}

/** What every error of the family is made from. */
export interface ErrorInit<Data> extends ErrorContext {
  readonly data: Data;
  /** What the reader can do or run next. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** The JSON shape of an error: the same in the library, on the command line and over any wire. */
export interface ErrorJson {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly data: unknown;
  readonly operation: string | null;
  readonly planId: string | null;
  readonly resourceId: string | null;
  readonly sandboxId: string | null;
  readonly strategyName: string | null;
  readonly at: string;
  readonly cause: ErrorJson | { readonly code: string | null; readonly message: string } | null;
}

/** Marks the family; the same symbol in every copy of this package that a process has loaded. */
const FAMILY = Symbol.for("cofferdam.error");

/**
 * The one family of errors that leaves this package. `code` and `data` are the contract; the message is for people.
 * An error of the family is never wrapped in a second one of the same kind. Passwords of URLs and connection strings
 * are hidden in everything but `cause`, which is handed on as it was thrown. `instanceof` also knows the errors of
 * another copy of this package, as plug-ins of a project have one beside that of the command line.
 */
export abstract class SandboxError<Data = unknown> extends Error {
  abstract readonly code: string;
  readonly data: Data;
  readonly hint: string | null;
  readonly operation: string | null;
  planId: string | null;
  resourceId: string | null;
  sandboxId: string | null;
  strategyName: string | null;
  /** UTC, ISO 8601. */
  readonly at: string;

  static override [Symbol.hasInstance](thrown: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, thrown)) return true;
    return thrown instanceof Error && FAMILY in thrown && classNames(thrown).includes(this.name);
  }

  constructor(message: string, init: ErrorInit<Data>) {
    super(hidePasswords(message), "cause" in init ? { cause: init.cause } : undefined);
    this.name = new.target.name;
    const { operation, planId, resourceId, sandboxId, strategyName } = hideAllPasswords({
      ...init,
    });
    this.data = hideAllPasswords(init.data);
    this.hint = hidePasswords(init.hint ?? "") || null;
    this.operation = operation ?? null;
    this.planId = planId ?? null;
    this.resourceId = resourceId ?? null;
    this.sandboxId = sandboxId ?? null;
    this.strategyName = strategyName ?? null;
    this.at = new Date().toISOString();
  }

  /** Adds what the thrower could not know; never overwrites what it did. */
  inContext(context: ErrorContext): this {
    const { planId, resourceId, sandboxId, strategyName } = hideAllPasswords({ ...context });
    this.planId ??= planId ?? null;
    this.resourceId ??= resourceId ?? null;
    this.sandboxId ??= sandboxId ?? null;
    this.strategyName ??= strategyName ?? null;
    return this;
  }

  toJSON(): ErrorJson {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      data: this.data,
      operation: this.operation,
      planId: this.planId,
      resourceId: this.resourceId,
      sandboxId: this.sandboxId,
      strategyName: this.strategyName,
      at: this.at,
      cause: causeJson(this.cause),
    };
  }
}

Object.defineProperty(SandboxError.prototype, FAMILY, { value: true });

/** The names of the class of an error and of all classes that it extends. */
function classNames(error: Error): readonly string[] {
  const names: string[] = [];
  for (let at: unknown = Object.getPrototypeOf(error); at !== null; at = Object.getPrototypeOf(at))
    names.push((at as object).constructor.name);
  return names;
}

function causeJson(cause: unknown): ErrorJson["cause"] {
  if (cause === undefined || cause === null) return null;
  if (cause instanceof SandboxError) return cause.toJSON();
  if (cause instanceof Error)
    return { code: errnoOf(cause), message: hidePasswords(cause.message) };
  return { code: null, message: describeThrown(cause) };
}

/** The `code` of a system error such as `ENOSPC`; null for anything else. */
export function errnoOf(thrown: unknown): string | null {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return null;
  return typeof thrown.code === "string" ? thrown.code : null;
}

/** One line about whatever was thrown, without passwords. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return hidePasswords(thrown.message);
  if (typeof thrown === "string") return hidePasswords(thrown);
  return `a thrown ${thrown === null ? "null" : typeof thrown}`;
}
