import type { ErrorJson } from "../index.ts";
import { quoted } from "./quoted.ts";

/** What to run next, in the words of the command line where they help more than those of the library. */
export function hintFor(error: ErrorJson): string | null {
  const { planId, code, data } = error;
  if (planId === null) return error.hint;
  const plan = quoted(planId);
  if (code === "CHECKPOINT" && (data as { readonly reason?: string }).reason === "unknown")
    return `\`coffer checkpoints ${plan}\` lists them.`;
  if (code === "SANDBOX_STATE" && (data as { readonly attempted?: string }).attempted === "run")
    return committedHint(error, plan);
  const conflict = conflictIn(error);
  if (conflict === null) return error.hint;
  const { conflicts = [], reason } = conflict.data as ConflictData;
  if (reason === "checkout" || reason === "rows") return conflict.hint;
  const paths = conflicts.map(({ path }) => path);
  if (paths[0]?.endsWith(".git/index.lock") === true)
    return "Wait until git has ended there, then commit again.";
  const named = paths.length > MOST_NAMED ? "PATH…" : paths.map(quoted).join(" ");
  if (conflict.operation === "resolve")
    return `Edit your version (\`coffer shell ${plan}\`), then \`coffer resolve ${plan} ${named} --mine\`; or yield with --theirs.`;
  return `\`coffer diff ${plan}\` shows your side; \`coffer resolve ${plan} ${named} --mine\`, --theirs or --merge settles it, then commit again.`;
}

/** A command was to run in a plan that is committed, or that nobody knows. */
function committedHint({ data, hint }: ErrorJson, plan: string): string | null {
  if ((data as { readonly status?: string }).status !== "COMMITTED") return hint;
  return `\`coffer run\` and \`coffer open\` make a new plan; \`coffer rollback ${plan}\` takes this commit back.`;
}

const MOST_NAMED = 3;

interface ConflictData {
  readonly conflicts?: readonly { readonly path: string }[];
  readonly reason?: string;
}

/** The conflict behind an error; null when there is none. */
function conflictIn(error: ErrorJson): ErrorJson | null {
  if (error.code === "SANDBOX_CONFLICT") return error;
  const { cause } = error;
  return cause !== null && "data" in cause ? conflictIn(cause) : null;
}
