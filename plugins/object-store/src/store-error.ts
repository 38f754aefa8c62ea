import { SandboxError } from "cofferdam";

/** Why a request to the server did not do what it was made for. */
export type StoreProblem =
  "unreachable" | "denied" | "missing" | "noBucket" | "noUpload" | "condition" | "failed";

const HINTS: Readonly<Partial<Record<StoreProblem, string>>> = {
  unreachable: "Check the endpoint and the network; nothing is lost meanwhile.",
  denied:
    "Check the credentials, and that they allow reading, writing and deleting objects and their versions, and listing both.",
  noBucket: "Check the name of the bucket, the endpoint and the region.",
};

const BY_NAME: Readonly<Record<string, StoreProblem>> = {
  NoSuchBucket: "noBucket",
  NoSuchUpload: "noUpload",
  NoSuchKey: "missing",
  NoSuchVersion: "missing",
  NotFound: "missing",
  AccessDenied: "denied",
  InvalidAccessKeyId: "denied",
  SignatureDoesNotMatch: "denied",
  CredentialsProviderError: "denied",
  ExpiredToken: "denied",
  PreconditionFailed: "condition",
  ConditionalRequestConflict: "condition",
};

const BY_STATUS: Readonly<Record<number, StoreProblem>> = {
  403: "denied",
  404: "missing",
  409: "condition",
  412: "condition",
};

/** A request to the server failed or was refused. What the server said beyond its code is not handed on. */
export class ObjectStoreError extends SandboxError<{
  readonly reason: StoreProblem;
  readonly request: string;
  /** The status of the answer; null when there was none. */
  readonly status: number | null;
}> {
  readonly code = "OBJECT_STORE";
}

/** Whatever a request threw as an error that names the request and what it was about. */
export function storeError(thrown: unknown, request: string, about: string): ObjectStoreError {
  const { name, status, detail } = answerOf(thrown);
  const reason =
    BY_NAME[name] ?? (status === null ? "unreachable" : (BY_STATUS[status] ?? "failed"));
  const told = status === null ? detail : `${name}, status ${status}`;
  return new ObjectStoreError(`${request} of ${about}: ${told}`, {
    data: { reason, request, status },
    hint: HINTS[reason],
  });
}

/** Whether a request failed for this reason. */
export function isStoreProblem(thrown: unknown, ...reasons: readonly StoreProblem[]): boolean {
  return thrown instanceof ObjectStoreError && reasons.includes(thrown.data.reason);
}

interface Answer {
  readonly name: string;
  readonly status: number | null;
  readonly detail: string;
}

function answerOf(thrown: unknown): Answer {
  if (!(thrown instanceof Error)) return { name: "", status: null, detail: "no answer" };
  const { $metadata } = thrown as { readonly $metadata?: { readonly httpStatusCode?: number } };
  const { code } = thrown as { readonly code?: unknown };
  const detail = typeof code === "string" ? `${code}: ${thrown.message}` : thrown.message;
  return { name: thrown.name, status: $metadata?.httpStatusCode ?? null, detail };
}
