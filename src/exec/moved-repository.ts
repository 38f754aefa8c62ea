import { copyFileSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { endangeredWorktrees } from "./endangered-worktrees.ts";
import {
  type Environment,
  type Settings,
  byKey,
  isInclude,
  listSettings,
  writeSettings,
} from "./git-settings.ts";
import { HiddenPlaces, type ShownElsewhere } from "./hidden-places.ts";
import type { MoveRequest } from "./move-request.ts";
import { isHiddenBy } from "./shown-sandbox.ts";
import type { LinkedWorktree } from "./worktree.ts";

/** What a repository would lose by being seen at another place than it lies, because git looks from that place. */
export interface MovedRepository {
  /** Its list of further objects with paths that hold there; null where they do anyway. */
  readonly alternates: string | null;
  /** A folder with the file `config` that has its lost settings; null where there are none. */
  readonly settings: string | null;
  /** What these name, and nobody would see. */
  readonly shown: readonly ShownElsewhere[];
  /** Its other worktrees that git would take for gone. */
  readonly endangered: readonly string[];
}

/** Files that are read for some places of a repository only, or by relative paths. */
const BY_PLACE = /^(?:includeif\.gitdir(?:\/i)?:|include(?:if\..+)?\.path\n[^/~])/s;
/** Settings whose value is one path. */
const OF_PATHS =
  /^(?:core\.(?:hookspath|excludesfile|attributesfile|fsmonitor|askpass)|commit\.template|mailmap\.file|blame\.ignorerevsfile|(?:fetch\.|receive\.)?fsck\.skiplist|gpg\.ssh\.(?:allowedsigners|revocation)file|user\.signingkey|http\.(?:cookiefile|ssl(?:cert|key|cainfo|capath)))$/;

/** Finds out what the repositories of worktrees would lose; what is to be shown instead is put into the folder of the run. */
export async function movedRepositories(
  request: MoveRequest,
  env: Environment,
): Promise<ReadonlyMap<LinkedWorktree, MovedRepository>> {
  const { sandboxes, folder, outside } = request;
  const found = new Map<LinkedWorktree, MovedRepository>();
  // Where changes are thrown away, git must not forget a worktree that a command has only seemed to remove.
  const isSeen = (path: string): boolean => outside === "allow" && !isHiddenBy(sandboxes, path);
  for (const [index, sandbox] of sandboxes.entries()) {
    if (!("worktree" in sandbox) || sandbox.worktree === undefined) continue;
    const { worktree } = sandbox;
    const places = new HiddenPlaces(request, worktree, index);
    const standIn = join(folder, `elsewhere-${index}`);
    const settings = await lostSettings(worktree, { standIn, places, env });
    const at = settings.size === 0 ? null : join(folder, `settings-${index}`);
    if (at !== null) await writeSettings(join(at, "config"), settings);
    const alternates = absoluteAlternates(worktree.repository, places);
    found.set(worktree, {
      alternates,
      settings: at,
      shown: places.shown,
      endangered: endangeredWorktrees(worktree.repository, isSeen),
    });
  }
  return found;
}

/** How the settings of a worktree are compared. */
interface Listing {
  /** A folder to be made, at another place. */
  readonly standIn: string;
  readonly places: HiddenPlaces;
  readonly env: Environment;
}

/**
 * Settings of a worktree that another place of its repository, or what the worktree hides, takes away or changes. Values
 * that count all the same, as those that the repository itself sets, are not among them.
 */
async function lostSettings(
  { repository, name }: LinkedWorktree,
  { standIn, places, env }: Listing,
): Promise<Settings> {
  const own = join(repository, "worktrees", name);
  const here = await listSettings(own, env);
  const isByPlace = here.some(({ key, value }) => BY_PLACE.test(`${key}\n${value}`));
  if (isByPlace) copySettings(repository, own, standIn);
  const read = isByPlace ? await listSettings(standIn, env) : here;
  const there = byKey(read.filter(({ files }) => !files.some((file) => places.isHidden(file))));
  const all = byKey(here);
  const lost = [...all].flatMap(([key, values]): [string, readonly string[]][] => {
    const left = there.get(key) ?? [];
    if (isInclude(key) || left.at(-1) === values.at(-1)) return [];
    const missing = values.slice(0, -1).filter((value) => !left.includes(value));
    return [[key, [...missing, ...values.slice(-1)]]];
  });
  const led = [...all].flatMap(([key, values]): [string, readonly string[]][] => {
    const path = OF_PATHS.test(key) ? absolute(values.at(-1) ?? "", env) : null;
    const seen = path === null ? null : places.seenAt(path);
    return seen === null ? [] : [[key, [seen]]];
  });
  return new Map([...lost, ...led]);
}

/** Puts the settings of a repository where it does not lie. */
function copySettings(repository: string, own: string, standIn: string): void {
  for (const made of ["objects", "refs"]) mkdirSync(join(standIn, made), { recursive: true });
  const files = { HEAD: own, config: repository, "config.worktree": own };
  for (const [file, from] of Object.entries(files)) {
    if (lstatSync(join(from, file), { throwIfNoEntry: false })?.isFile() !== true) continue;
    copyFileSync(join(from, file), join(standIn, file));
  }
}

/** The path that a value is; null for one that depends on where git is started, and for everything else. */
function absolute(value: string, { HOME }: Environment): string | null {
  if (value.startsWith("/")) return value;
  return value.startsWith("~/") && HOME !== undefined ? join(HOME, value.slice(2)) : null;
}

function absoluteAlternates(repository: string, places: HiddenPlaces): string | null {
  const objects = join(repository, "objects");
  const file = join(objects, "info", "alternates");
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const lines = readFileSync(file, "utf8").split("\n");
  const seen = lines.map((line) => {
    if (!/^[^#"]/.test(line)) return line;
    const path = resolve(objects, line);
    return places.seenAt(path) ?? (isAbsolute(line) ? line : path);
  });
  return seen.some((line, at) => line !== lines[at]) ? seen.join("\n") : null;
}
