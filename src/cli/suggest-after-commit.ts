import type { CommitReport } from "../index.ts";
import type { Call } from "./call.ts";
import { quoted } from "./quoted.ts";
import { printable } from "./render/printable.ts";

/**
 * Tells what can be done about a commit; that it can be taken back only where that is so. `size` is the number of
 * sandboxes in the plan: a rollback concerns them all.
 */
export function suggestAfterCommit(call: Call, report: CommitReport, size: number): void {
  const { planId, order, results } = report;
  const published = order.filter((id) => results[id]?.noop === false);
  const final = published.filter((id) => results[id]?.undoable.possible === false);
  for (const id of final) {
    const why = results[id]?.undoable.by ?? "";
    call.tell(`${printable(id)} cannot be taken back: ${printable(why)}.`);
  }
  const name = quoted(planId);
  const isEmpty = published.length === 0 && order.length === size;
  if (isEmpty && order.every((id) => results[id]?.undoable.possible === true)) {
    call.suggest(
      [`coffer rollback ${name}`, "open the plan again, as it is"],
      [`coffer clean ${name}`, "forget the plan"],
    );
    return;
  }
  const canUndo = published.length > 0 && final.length === 0;
  call.suggest(...(canUndo ? [[`coffer rollback ${name}`, "take it back"] as const] : []), [
    `coffer clean ${name}`,
    "forget the plan, keep what is committed",
  ]);
}
