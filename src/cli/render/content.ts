import type { DiffView } from "../../index.ts";
import type { Page } from "../call.ts";
import { paintPatch } from "./patch.ts";
import { renderRows } from "./rows.ts";

/** The content of a resource's changes, or of those at some paths: files as a patch, databases as rows. */
export async function contentOf(
  view: DiffView,
  paths: readonly string[] | undefined,
  page: Page,
): Promise<string[]> {
  if (view.isEmpty) return [];
  if (view.unit === "row") return renderRows(view, paths, page);
  const text = await view.text(paths === undefined ? {} : { paths });
  // Programs get the very bytes; names in it are quoted already.
  return Number.isFinite(page.width) ? paintPatch(text, page.style) : [text.replace(/\n$/, "")];
}
