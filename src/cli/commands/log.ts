import type { FinishedTransaction } from "../../index.ts";
import { type Call, type Page, pageFor } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openFor } from "../open-plan.ts";
import { quoted } from "../quoted.ts";
import { countText, timeText } from "../render/amounts.ts";
import { printable, printableLines } from "../render/printable.ts";
import { showPaged } from "../terminal/pager.ts";

/** One finished transaction, as `coffer log --json` tells it. */
interface LogEntry {
  readonly transaction: string;
  readonly at: string;
  readonly kind: "commit" | "undo";
  readonly outcome: "committed" | "aborted";
  readonly planId: string | null;
  readonly message: string | null;
  readonly resources: readonly {
    readonly resourceId: string;
    readonly strategyName: string;
    /** Null when it was taken back. */
    readonly result: FinishedTransaction["members"][number]["result"];
  }[];
}

/** `coffer log`: what was committed and undone, the newest first. */
export async function showLog(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call, { looking: true });
  const entries = (await cofferdam.history()).toReversed().map(entryOf);
  const page = pageFor(process.stdout);
  if (call.json) call.answerJson(entries);
  else await showPaged(entries.flatMap((entry) => render(entry, page)));
  if (entries.length === 0) call.tell("Nothing was committed yet.");
  // Others were taken back since, or are forgotten.
  const committed = (await cofferdam.list()).filter(({ status }) => status === "COMMITTED");
  const last = entries.find(({ planId }) => committed.some(({ ref }) => ref.planId === planId));
  if (last?.planId != null)
    call.suggest([`coffer rollback ${quoted(last.planId)} --dry-run`, "what an undo would do"]);
  return EXIT.done;
}

function entryOf(done: FinishedTransaction): LogEntry {
  const { transaction, at, kind, outcome, message, members } = done;
  return {
    transaction,
    at,
    kind,
    outcome,
    planId: members[0]?.ref.planId ?? null,
    message,
    resources: members.map(({ ref: { resourceId, strategyName }, result }) => ({
      resourceId,
      strategyName,
      result,
    })),
  };
}

function render({ at, kind, outcome, planId, message, resources }: LogEntry, page: Page): string[] {
  const { style } = page;
  const word = kind === "commit" ? "committed" : "undone";
  const verdict = outcome === "committed" ? style.good(word) : style.bad(`${kind} given up`);
  const [subject = "", ...more] = message === null ? [] : printableLines(message.trim());
  return [
    `${timeText(at)}  ${style.bold(printable(planId ?? ""))}  ${verdict}` +
      (subject === "" ? "" : `  ${subject}`),
    ...more.filter((line) => line !== "").map((line) => `    ${line}`),
    ...resources.map(
      ({ resourceId, result }) => `  ${printable(resourceId)}  ${extent(result, kind)}`,
    ),
  ];
}

function extent(result: LogEntry["resources"][number]["result"], kind: LogEntry["kind"]): string {
  if (result === null) return "as before";
  const { added, changed, deleted } = result;
  const parts = [
    ...(added.length > 0 ? [countText(added.length, "added", "added")] : []),
    ...(changed.length > 0 ? [countText(changed.length, "changed", "changed")] : []),
    ...(deleted.length > 0 ? [countText(deleted.length, "deleted", "deleted")] : []),
  ];
  if (parts.length === 0) return "nothing to do";
  // What an undo tells is what the commit did that it took back.
  return `${parts.join(", ")}${kind === "undo" ? ": taken back" : ""}`;
}
