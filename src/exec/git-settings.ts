import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { addToList } from "../model/add-to-list.ts";
import { run } from "../platform/run.ts";

/** The variables of a command. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting of git with all its values, the one that counts last. */
export type Settings = ReadonlyMap<string, readonly string[]>;

/** One value of a setting, as git reads it. */
export interface ReadSetting {
  readonly key: string;
  readonly value: string;
  /** The files that it comes from, each included by the one before; those of the repository's own settings left out. */
  readonly files: readonly string[];
}

/** Where the user's own settings are. */
const OF_THE_USER = /^(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?!COUNT|KEY_|VALUE_).+)$/;
const NUMBERED = /^(GIT_CONFIG_(?:KEY|VALUE)_)(0|[1-9]\d*)$/;

/** What git reads for a git directory; nothing where it cannot, which it then says inside as well. */
export async function listSettings(gitDirectory: string, env: Environment): Promise<ReadSetting[]> {
  const users = Object.entries(env).flatMap(([key, value]) =>
    value !== undefined && OF_THE_USER.test(key) ? [[key, value] as const] : [],
  );
  const list = ["config", "--list", "-z", "--includes", "--show-scope", "--show-origin"];
  const { exitCode, stdout } = await run("git", list, {
    cwd: "/",
    env: { ...Object.fromEntries(users), GIT_DIR: gitDirectory },
  }).catch(() => ({ exitCode: null, stdout: Buffer.of() }));
  return exitCode === 0 ? parseSettings(stdout.toString("utf8").split("\0").slice(0, -1)) : [];
}

/** Whether a setting names a file to be read in its place. */
export function isInclude(key: string): boolean {
  return /^include(?:if\..+)?\.path$/s.test(key);
}

/** Settings with all their values, in the order in which git reads them. */
export function byKey(settings: readonly ReadSetting[]): Settings {
  const found = new Map<string, string[]>();
  for (const { key, value } of settings) addToList(found, key, value);
  return found;
}

/** Writes settings to a new file in a new folder. */
export async function writeSettings(file: string, settings: Settings): Promise<void> {
  mkdirSync(resolve(file, ".."));
  for (const [key, values] of settings)
    for (const value of values)
      await run("git", ["config", "-f", file, "--add", key, value], { cwd: "/" });
}

/** The environment of a command with further settings of git, which count less than those that it has. */
export function withGitSettings(
  env: Environment,
  settings: readonly (readonly [key: string, value: string])[],
): Environment {
  const own = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  // git refuses to work with a count that is no number, whatever stands behind it.
  if (settings.length === 0 || !Number.isInteger(own)) return env;
  const moved = Object.entries(env).map(([name, value]) => {
    const [, prefix, number] = NUMBERED.exec(name) ?? [];
    return [
      prefix === undefined ? name : `${prefix}${Number(number) + settings.length}`,
      value,
    ] as const;
  });
  const more = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ]);
  const count = { GIT_CONFIG_COUNT: String(own + settings.length) };
  return { ...Object.fromEntries([...moved, ...more]), ...count };
}

/** From scopes, origins, and keys with values. What follows an include, from another file, is what it names. */
function parseSettings(fields: readonly string[]): ReadSetting[] {
  const found: ReadSetting[] = [];
  let [scope, files, follows] = ["", [] as string[], false];
  for (let at = 0; at < fields.length; at += 3) {
    const [own = "", origin = "", text = ""] = fields.slice(at, at + 3);
    const [, key = "", value = "true"] = /^([^\n]*)(?:\n(.*))?$/s.exec(text) ?? [];
    const file = resolve(origin.replace(/^file:/, ""));
    const known = own === scope ? files.lastIndexOf(file) : -1;
    const around = own === scope && follows ? files : [];
    files = known === -1 ? [...around, file] : files.slice(0, known + 1);
    [scope, follows] = [own, isInclude(key)];
    const isOfRepository = scope === "local" || scope === "worktree";
    found.push({ key, value, files: isOfRepository ? files.slice(1) : files });
  }
  return found;
}
