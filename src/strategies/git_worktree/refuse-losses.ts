import { SandboxPathError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  toBytePath,
} from "../../model/byte-path.ts";
import { findBeneath, listBeneath } from "../../tree/beneath.ts";
import { fewOf } from "./failures.ts";
import { type RawChange, SUBMODULE } from "./git-output.ts";
import type { Git } from "./git.ts";
import type { Hindrances } from "./hindrances.ts";
import { type Site, worktreePath } from "./site.ts";
import { ignoredInSubmodule } from "./submodules.ts";

/**
 * Refuses to take changes back where something would go that is in none of them and that nobody else has: edits inside
 * another repository, and files that git ignores in a folder that has the place of a file or in a submodule. A submodule
 * is emptied only where nothing else was found in it, whatever the index says of it.
 * @throws SandboxPathError (`SANDBOX_PATH`, reason `notEmpty`) that names it.
 */
export async function refuseLosses(
  git: Git,
  site: Site,
  changes: readonly RawChange[],
  hindrances: Hindrances,
): Promise<void> {
  const root = worktreePath(site);
  const changed = new Set(changes.map(({ path }) => path));
  for (const { path, before, after } of changes) {
    const hindrance = hindrances.get(path);
    if (hindrance === "inside" || hindrance === "repository") throw notOurs(path, hindrance);
    const isSubmodule = after?.mode === SUBMODULE;
    if (before === null && !isSubmodule) continue;
    const lost = isSubmodule
      ? await ignoredInSubmodule(git, site, { path, oid: after.oid })
      : filesBelow(root, path).filter((file) => !changed.has(file));
    if (lost === null) throw notOurs(path, "inside");
    if (lost.length > 0) throw losing(path, lost);
  }
}

function notOurs(path: RelativePath, hindrance: "inside" | "repository"): SandboxPathError {
  const name = displayPath(path);
  const edits = hindrance === "inside" ? " with edits inside, which nobody else has" : "";
  return new SandboxPathError(`${name} is another repository${edits}: it is not taken back`, {
    data: { path: name, reason: "notEmpty" },
    hint:
      hindrance === "inside"
        ? "Take these edits back with git in that folder, or empty the folder in the worktree, then try again."
        : "Remove or move that folder in the worktree, unless it has what nobody else has.",
  });
}

function losing(path: RelativePath, lost: readonly RelativePath[]): SandboxPathError {
  const name = displayPath(path);
  const files = fewOf(lost.map(displayPath));
  return new SandboxPathError(
    `Taking ${name} back would remove files that are no edits: ${files}`,
    {
      data: { path: name, reason: "notEmpty" },
      hint: "Move or remove these files in the worktree, then try again.",
    },
  );
}

/** Everything below a folder that is no folder; nothing for what is none itself, or lies behind a link. */
function filesBelow(root: BytePath, path: RelativePath): RelativePath[] {
  if (findBeneath(root, path)?.type !== "directory") return [];
  return listBeneath(root, path).flatMap(({ name, nameBytes, type }) => {
    const bytes = toBytePath(nameBytes === undefined ? name : Buffer.from(nameBytes, "hex"));
    const inside = `${path}/${bytes}` as RelativePath;
    return type === "directory" ? filesBelow(root, inside) : [inside];
  });
}
