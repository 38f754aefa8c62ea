import type { ErrorJson } from "../index.ts";
import { quoted } from "./quoted.ts";

/** What to run next, in the words of the command line where they help more than those of the library. */
export function hintFor(error: ErrorJson): string | null {
  const hint = ownHint(error);
  const { planId } = error;
  if (hint === null || planId === null) return hint;
  // A strategy writes hints without knowing its plan.
  return hint.replaceAll(/(?<=`coffer [a-z]+ )PLAN\b/g, () => quoted(planId));
}

function ownHint(error: ErrorJson): string | null {
  const { planId, code, data } = error;
  if (code === "STRATEGY_NOT_FOUND" && error.hint?.startsWith("Available") === true)
    return `${error.hint} Those of a plug-in are known where their cofferdam.yaml is: go there, or name it with --config.`;
  if (code === "PLATFORM_UNSUPPORTED" && (data as { readonly what?: string }).what === STATE)
    return insideHint() ?? error.hint;
  if (planId === null) return error.hint;
  const plan = quoted(planId);
  if (code === "CHECKPOINT" && (data as { readonly reason?: string }).reason === "unknown")
    return `\`coffer checkpoints ${plan}\` lists them.`;
  if (code === "SANDBOX_STATE" && (data as { readonly attempted?: string }).attempted === "run")
    return committedHint(error, plan);
  if (code === "UNSUPPORTED_STRATEGY" && SINGLE_EDITS.has(error.operation ?? ""))
    return `\`coffer restore ${plan} CHECKPOINT\` takes all of it back to a kept state; \`coffer rollback ${plan}\` discards it, to be done again.`;
  if (withCode("ATOMICITY_REFUSED", error) !== null)
    return `Nothing was tried. \`coffer commit ${plan} --only RESOURCE…\` commits these apart; with --best-effort all go, and a crash in the middle may leave a part.`;
  const setting = refusingSettingOf(error);
  if (setting !== null)
    return `Change it in the sandbox (\`coffer shell ${plan}\`), or say what may be published in cofferdam.yaml (${setting}), then commit again.`;
  const conflict = withCode("SANDBOX_CONFLICT", error);
  if (conflict === null) return error.hint;
  const { conflicts = [], reason } = conflict.data as ConflictData;
  if (reason === "rows") return rowsHint(conflict, plan);
  if (reason !== undefined && OWN_HINT.has(reason)) return conflict.hint;
  const paths = conflicts.map(({ path }) => path || ".");
  if (paths[0]?.endsWith(".git/index.lock") === true)
    return "Wait until git has ended there, then commit again.";
  const named = paths.length > MOST_NAMED ? "PATH…" : paths.map(quoted).join(" ");
  if (conflict.operation === "resolve")
    return `Edit your version (\`coffer shell ${plan}\`), then \`coffer resolve ${plan} ${named} --mine\`; or yield with --theirs.`;
  if (paths.every((path) => GIT_INDEX.test(path)))
    return `Even \`git status\` rewrites an index: if nothing was staged there meanwhile, \`coffer resolve ${plan} ${named} --mine\`, then commit again.`;
  const all = `${quoted(`${conflict.resourceId}:`)} instead of PATH settles all of them`;
  const settles = paths.length > MOST_NAMED ? `settles one, ${all};` : "settles it,";
  const look = `\`coffer diff ${plan}\` shows your side; \`coffer resolve ${plan} ${named} --mine\``;
  // git has merged whatever it can.
  return reason === "merge"
    ? `${look} or --theirs ${settles} or merge the branch by hand (\`coffer shell ${plan}\`), then commit again.`
    : `${look}, --theirs or --merge ${settles} then commit again.`;
}

/** Where others changed the same, when that is more than the message of an error names. */
export function furtherConflicts(error: ErrorJson): readonly string[] {
  const { conflicts = [] } = (withCode("SANDBOX_CONFLICT", error)?.data ?? {}) as ConflictData;
  // Which of the rows that were wanted at once are held, nobody knows.
  const told = isOnlyHeld(conflicts) ? [] : conflicts;
  return told.length > MOST_NAMED ? told.map(({ path }) => path || ".") : [];
}

/** A command of a plan does not see the state directory. */
function insideHint(): string | null {
  const plan = process.env["COFFERDAM_PLAN"];
  if (plan === undefined) return null;
  return `This runs inside the plan ${plan}, where no plan can be reached: leave it first, or name a folder of its own by --state.`;
}

/** A command was to run in a plan that is committed, or that nobody knows. */
function committedHint({ data, hint }: ErrorJson, plan: string): string | null {
  if ((data as { readonly status?: string }).status !== "COMMITTED") return hint;
  return `\`coffer run\` and \`coffer open\` make a new plan; \`coffer rollback ${plan}\` takes back what this one committed, if anything, and opens it again.`;
}

/** Rows that somebody changed cannot be settled one by one; those that somebody only holds need nothing but time. */
function rowsHint({ data, operation, hint }: ErrorJson, plan: string): string | null {
  const { conflicts = [] } = data as ConflictData;
  if (!isOnlyHeld(conflicts))
    return `Look at the real rows, then \`coffer rollback ${plan}\` and run the statements again; \`coffer restore ${plan} CHECKPOINT\` keeps those before a checkpoint.`;
  if (operation !== "commit") return hint;
  return `\`coffer commit ${plan}\` again when the other program is done; the edits are kept.`;
}

function isOnlyHeld(conflicts: readonly { readonly reason: string }[]): boolean {
  return conflicts.length > 0 && conflicts.every(({ reason }) => reason === "locked");
}

const MOST_NAMED = 3;

/** What a library error says of the state directory. */
const STATE = "state directory";

/** The index of a repository, or of one of its submodules. */
const GIT_INDEX = /(?:^|\/)\.git\/(?:modules\/.+\/)?index$/;

/** What works on paths, which not every strategy has. */
const SINGLE_EDITS = new Set(["drop", "resolve"]);

/** Conflicts that `coffer resolve` does not settle, or not in every way. */
const OWN_HINT = new Set(["checkout", "unresolved", "notMerged"]);

interface ConflictData {
  readonly conflicts?: readonly { readonly path: string; readonly reason: string }[];
  readonly reason?: string;
}

/** By the reason of a refusal, the setting that would allow it. */
const REFUSING_SETTINGS = new Map([
  ["specialBits", "publish: special_bits: drop, or allow"],
  ["outwardLink", "publish: outward_links: allow"],
]);

/** The setting by which a commit was refused; null when none was the reason. */
function refusingSettingOf(error: ErrorJson): string | null {
  const { reason } = (withCode("SANDBOX_COMMIT", error)?.data ?? {}) as ConflictData;
  return REFUSING_SETTINGS.get(reason ?? "") ?? null;
}

/** The error of this kind that is behind an error; null when there is none. */
function withCode(code: string, error: ErrorJson): ErrorJson | null {
  if (error.code === code) return error;
  const { cause } = error;
  return cause !== null && "data" in cause ? withCode(code, cause) : null;
}
