import { withDefaults } from "../contract/capabilities.ts";
import { PathEscapeError, SandboxPathError } from "../errors/index.ts";
import {
  type PathInput,
  displayPath,
  parseRelativePath,
  pathBytes,
  toBytePath,
} from "../model/byte-path.ts";
import type { Guarded } from "./engine.ts";

/**
 * A caller's path in its plain form, text where it was text and bytes where it was bytes. Checked here once, for every
 * strategy.
 * @throws PathEscapeError (`PATH_ESCAPE`) for an absolute path, a way up, or a zero byte; SandboxPathError (`SANDBOX_PATH`)
 * when it is too long.
 */
export function plainPath(input: PathInput, root: string, operation: string): PathInput {
  if (typeof input !== "string" && !(input instanceof Uint8Array)) {
    throw escape(String(input), root, operation);
  }
  const { path, problem } = parseRelativePath(input);
  if (problem === undefined) return typeof input === "string" ? displayPath(path) : pathBytes(path);
  const requested = displayPath(toBytePath(input));
  if (problem !== "tooLong") throw escape(requested, root, operation);
  throw new SandboxPathError("The path is longer than the system allows", {
    data: { path: requested, reason: "tooLong" },
    operation,
  });
}

/** What a strategy is called with: a plain path, or, where it takes queries, exactly what the caller gave. */
export function addressOf(
  { raw }: Guarded,
  input: PathInput,
  root: string,
  operation: string,
): PathInput {
  const isText = typeof input === "string" || input instanceof Uint8Array;
  const { queries } = withDefaults(raw.capabilities);
  return queries && isText ? input : plainPath(input, root, operation);
}

/** A path as text for people. */
export function pathText(input: PathInput): string {
  return typeof input === "string" ? input : Buffer.from(input).toString("utf8");
}

function escape(requested: string, root: string, operation: string): PathEscapeError {
  return new PathEscapeError(`${JSON.stringify(requested)} does not stay inside the resource`, {
    data: { requested, root },
    operation,
    hint: "Use a path relative to the resource's root, without .. and without a leading slash.",
  });
}
