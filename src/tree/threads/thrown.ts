import * as errors from "../../errors/index.ts";
import { SandboxError } from "../../errors/index.ts";
import { NativeError } from "../../platform/native/index.ts";

/** A thrown value as it travels between threads. */
export type SentError =
  | {
      readonly kind: "native";
      readonly errno: number;
      readonly syscall: string;
      readonly path?: string | undefined;
      readonly destination?: string | undefined;
    }
  | {
      readonly kind: "family";
      readonly name: string;
      readonly message: string;
      readonly data: unknown;
      readonly hint: string | null;
      readonly cause: SentError | null;
    }
  | {
      readonly kind: "other";
      readonly message: string;
      readonly code: string | null;
      readonly stack: string | undefined;
    };

/** Makes a thrown value ready for another thread; classes do not survive the journey by themselves. */
export function sendError(thrown: unknown): SentError {
  if (thrown instanceof NativeError) {
    const { errno, syscall, path, destination } = thrown;
    return { kind: "native", errno: -errno, syscall, path, destination };
  }
  if (thrown instanceof SandboxError) {
    const { name, message, hint, cause } = thrown;
    const data: unknown = thrown.data;
    return {
      kind: "family",
      name,
      message,
      data,
      hint,
      cause: cause === undefined ? null : sendError(cause),
    };
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return {
    kind: "other",
    message: errors.describeThrown(thrown),
    code: errors.errnoOf(thrown),
    stack,
  };
}

type FamilyClass = new (
  message: string,
  init: { data: unknown; hint?: string | undefined; cause?: unknown },
) => SandboxError;

/** The same error in this thread: its own class again, so that callers can tell them apart. */
export function receiveError(sent: SentError): Error {
  if (sent.kind === "native") {
    return new NativeError(sent.errno, sent.syscall, sent.path, sent.destination);
  }
  if (sent.kind === "family") {
    const known = (errors as unknown as Record<string, FamilyClass | undefined>)[sent.name];
    const init = {
      data: sent.data,
      hint: sent.hint ?? undefined,
      ...(sent.cause !== null && { cause: receiveError(sent.cause) }),
    };
    if (known !== undefined) return new known(sent.message, init);
  }
  const error = new Error(sent.message);
  if (sent.kind === "other") {
    if (sent.stack !== undefined) error.stack = sent.stack;
    if (sent.code !== null) Object.assign(error, { code: sent.code });
  }
  return error;
}
