import { copyFileSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "../platform/run.ts";
import type { ShownSandbox } from "./shown-sandbox.ts";
import type { LinkedWorktree } from "./worktree.ts";

/** What a repository would lose by being seen at another place than it lies, because git looks from that place. */
export interface MovedRepository {
  /** Its list of further objects with absolute paths; null where none of them is relative. */
  readonly alternates: string | null;
  /** A folder with the file `config` that has its lost settings; null where there are none. */
  readonly settings: string | null;
}

/** A setting of git with all its values, the one that counts last. */
type Settings = ReadonlyMap<string, readonly string[]>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that depend on where a repository is: files that are read for some places only, or by relative paths. */
const BY_PLACE = /^(?:includeif\.gitdir(?:\/i)?:|include(?:if\..+)?\.path\n[^/~])/s;
/** Where the user's own settings are. */
const OF_THE_USER = /^(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?!COUNT|KEY_|VALUE_).+)$/;

/** Finds out what the repositories of worktrees would lose; what is to be shown instead is put into the folder of the run. */
export async function movedRepositories(
  sandboxes: readonly ShownSandbox[],
  folder: string,
  env: Environment,
): Promise<ReadonlyMap<LinkedWorktree, MovedRepository>> {
  const found = new Map<LinkedWorktree, MovedRepository>();
  for (const [index, sandbox] of sandboxes.entries()) {
    if (!("worktree" in sandbox) || sandbox.worktree === undefined) continue;
    const { worktree } = sandbox;
    const settings = await lostSettings(worktree, join(folder, `elsewhere-${index}`), env);
    const at = settings.size === 0 ? null : join(folder, `settings-${index}`);
    if (at !== null) await writeSettings(join(at, "config"), settings);
    found.set(worktree, { alternates: absoluteAlternates(worktree.repository), settings: at });
  }
  return found;
}

/** The environment of a command with further settings of git behind those that it has. */
export function withGitSettings(
  env: Environment,
  settings: readonly (readonly [key: string, value: string])[],
): Environment {
  const first = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  // git refuses to work with a count that is no number, whatever stands behind it.
  if (settings.length === 0 || !Number.isInteger(first)) return env;
  const more: Record<string, string> = { GIT_CONFIG_COUNT: String(first + settings.length) };
  settings.forEach(([key, value], at) => {
    more[`GIT_CONFIG_KEY_${first + at}`] = key;
    more[`GIT_CONFIG_VALUE_${first + at}`] = value;
  });
  return { ...env, ...more };
}

/**
 * Settings of a worktree that another place of its repository takes away or changes. Values that count all the same, as
 * those that the repository itself sets, are not among them.
 */
async function lostSettings(
  { repository, name }: LinkedWorktree,
  standIn: string,
  env: Environment,
): Promise<Settings> {
  const own = join(repository, "worktrees", name);
  const here = await listSettings(own, env);
  if (!here.some((part) => BY_PLACE.test(part))) return new Map();
  for (const made of ["objects", "refs"]) mkdirSync(join(standIn, made), { recursive: true });
  const files = { HEAD: own, config: repository, "config.worktree": own };
  for (const [file, from] of Object.entries(files)) {
    if (lstatSync(join(from, file), { throwIfNoEntry: false })?.isFile() !== true) continue;
    copyFileSync(join(from, file), join(standIn, file));
  }
  const there = byKey(await listSettings(standIn, env));
  const lost = [...byKey(here)].flatMap(([key, values]): [string, readonly string[]][] => {
    const left = there.get(key) ?? [];
    if (key.startsWith("include") || left.at(-1) === values.at(-1)) return [];
    const missing = values.slice(0, -1).filter((value) => !left.includes(value));
    return [[key, [...missing, ...values.slice(-1)]]];
  });
  return new Map(lost);
}

/** Keys and values as git lists them; none where it cannot read them, which it then says inside as well. */
async function listSettings(gitDirectory: string, env: Environment): Promise<string[]> {
  const users = Object.entries(env).flatMap(([key, value]) =>
    value !== undefined && OF_THE_USER.test(key) ? [[key, value] as const] : [],
  );
  const { exitCode, stdout } = await run("git", ["config", "--list", "-z", "--includes"], {
    cwd: "/",
    env: { ...Object.fromEntries(users), GIT_DIR: gitDirectory },
  }).catch(() => ({ exitCode: null, stdout: Buffer.of() }));
  return exitCode === 0 ? stdout.toString("utf8").split("\0").slice(0, -1) : [];
}

function byKey(listed: readonly string[]): Settings {
  const found = new Map<string, string[]>();
  for (const part of listed) {
    const [, key = "", value = "true"] = /^([^\n]*)(?:\n(.*))?$/s.exec(part) ?? [];
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return found;
}

async function writeSettings(file: string, settings: Settings): Promise<void> {
  mkdirSync(resolve(file, ".."));
  for (const [key, values] of settings)
    for (const value of values)
      await run("git", ["config", "-f", file, "--add", key, value], { cwd: "/" });
}

function absoluteAlternates(repository: string): string | null {
  const objects = join(repository, "objects");
  const file = join(objects, "info", "alternates");
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const lines = readFileSync(file, "utf8").split("\n");
  const isRelative = (line: string): boolean => /^[^/#"]/.test(line);
  if (!lines.some(isRelative)) return null;
  return lines.map((line) => (isRelative(line) ? resolve(objects, line) : line)).join("\n");
}
