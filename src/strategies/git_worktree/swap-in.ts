import { existsSync, mkdirSync, renameSync } from "node:fs";
import { nameOf } from "../../model/byte-path.ts";
import { exchangeEntries } from "../../tree/publish/move-entry.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import { type Site, worktreePath } from "./site.ts";

/** Exchanges a finished folder of the sandbox with its worktree; the old files then have the other name. */
export function swapIn(site: Site, name: string): void {
  const { folder, worktree, place } = site;
  if (!existsSync(worktree)) mkdirSync(worktree);
  const isDone = withRoot(place.directory, (fd) =>
    exchangeEntries({ fd, name }, { fd, name: nameOf(worktreePath(site)) }),
  );
  if (isDone) return;
  renameSync(worktree, `${folder}/aside`);
  renameSync(`${folder}/${name}`, worktree);
  renameSync(`${folder}/aside`, `${folder}/${name}`);
}
