import type { Resource } from "../../model/resource.ts";
import { refused } from "./repository.ts";

/** What a resource of this strategy may ask for. */
export interface GitProperties {
  /** Ignored files that come along, in the manner of `.gitignore`. */
  readonly include: readonly string[];
  /** Whom commits name as author; the user of git where left out. */
  readonly author: { readonly name?: string; readonly email?: string };
  /** Whether the hooks `pre-commit` and `commit-msg` of the repository run, in the worktree of the sandbox. */
  readonly runsHooks: boolean;
  /** How long one git command may take; the usual limit when null. */
  readonly gitTimeoutMs: number | null;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || (isText(value) && value !== "");

/**
 * Reads the properties of a resource; nothing that is asked for is passed over in silence.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `properties`) for a value that means nothing.
 */
export function readGitProperties(resource: Resource): GitProperties {
  const { include, author, hooks, gitTimeoutMs } = resource.properties ?? {};
  if (include !== undefined && !(Array.isArray(include) && include.every(isText)))
    throw wrong(resource, "include", "a list of patterns");
  const { name, email } = (author ?? {}) as { readonly name?: unknown; readonly email?: unknown };
  if (typeof (author ?? {}) !== "object" || !isOptionalText(name) || !isOptionalText(email))
    throw wrong(resource, "author", "{ name, email }");
  if (hooks !== undefined && hooks !== "run" && hooks !== "never")
    throw wrong(resource, "hooks", '"run" or "never"');
  if (gitTimeoutMs !== undefined && !(typeof gitTimeoutMs === "number" && gitTimeoutMs > 0))
    throw wrong(resource, "gitTimeoutMs", "a number of milliseconds");
  return {
    include: (include as readonly string[] | undefined) ?? [],
    author: { ...(name !== undefined && { name }), ...(email !== undefined && { email }) },
    runsHooks: hooks === "run",
    gitTimeoutMs: gitTimeoutMs ?? null,
  };
}

function wrong(resource: Resource, name: string, expected: string): Error {
  return refused(resource, "properties", `The property ${name} must be ${expected}`, {
    hint: "Correct the properties of the resource.",
  });
}
