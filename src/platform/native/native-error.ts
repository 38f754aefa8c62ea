import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

const KERNEL_NAMES = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

let nodeNames: ReturnType<typeof getSystemErrorMap> | undefined;

/** Name and text of an error number, spelled as Node spells them, so that `error.code` compares alike for both. */
function describeErrno(errno: number): readonly [name: string, text: string] {
  // Node builds the table anew at every question.
  nodeNames ??= getSystemErrorMap();
  const known = nodeNames.get(-errno);
  const name = known?.[0] ?? KERNEL_NAMES.get(errno) ?? `ERRNO_${errno}`;
  return [name, known?.[1] ?? "system error"];
}

/** The path of an error message as text for people. */
function displayed(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

/**
 * A system call that failed, in the shape of Node's own file errors: `code` is the name, `errno` the negative number.
 * `path` and `destination` hold the names byte-exactly, one character per byte.
 */
export class NativeError extends Error {
  override readonly name = "NativeError";
  readonly code: string;
  readonly errno: number;
  readonly syscall: string;
  readonly path: string | undefined;
  readonly destination: string | undefined;

  constructor(
    errno: number,
    syscall: string,
    path?: string,
    destination?: string,
    detail?: string,
  ) {
    const [code, text] = describeErrno(errno);
    const from = path === undefined ? "" : ` '${displayed(path)}'`;
    const to = destination === undefined ? "" : ` -> '${displayed(destination)}'`;
    super(`${code}: ${text}, ${syscall}${from}${to}${detail === undefined ? "" : ` (${detail})`}`);
    this.code = code;
    this.errno = -errno;
    this.syscall = syscall;
    this.path = path;
    this.destination = destination;
  }
}

/** An error of a system call, from Node or from our own calls. */
type ErrnoError = NodeJS.ErrnoException & { readonly code: string };

/** Whether the value is a failed system call, of ours or of Node, with one of the given codes. */
export function isErrno(error: unknown, ...codes: readonly string[]): error is ErrnoError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    codes.includes(error.code)
  );
}

/** Throws an error again, unless it has one of these codes. */
export function throwUnlessErrno(
  error: unknown,
  ...codes: readonly string[]
): asserts error is ErrnoError {
  if (!isErrno(error, ...codes)) throw error;
}
