import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";

/** A file of the program whose compiled form is kept. */
interface Kept {
  readonly file: string;
  readonly script: Script;
  /** The commands that ran with it: what they did not call is not compiled. */
  readonly commands: readonly string[];
}

/** The folder that the build writes them to. */
const CHUNKS = "/chunks";
/** Short ones compile as fast as their compiled form is read. */
const SHORTEST = 20_000;
/** How the build marks each file, at its end. */
const MARK = /\n\/\/# build=(\w+)\n[^\n]*\s*$/;
const TAIL = 200;
const DAY = 86_400_000;
const OLD = 30 * DAY;

/**
 * Keeps what V8 made of the program's files in the user's cache folder, so that the next command need not compile them:
 * that took a third of its time. Whatever is wrong with the folder only costs that time. Gives a function that tells
 * which command ran.
 */
export function keepCompiledCode(): (command: string) => void {
  const none = (): void => undefined;
  if (process.env["NODE_DISABLE_COMPILE_CACHE"] !== undefined) return none;
  const folder = ownFolder();
  if (folder === null) return none;
  // What counts or names lines knows the files by themselves only.
  if (process.env["NODE_V8_COVERAGE"] !== undefined || isMapping()) return none;
  return keepIn(folder);
}

function isMapping(): boolean {
  const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ");
  return /--enable-source-maps|--inspect/.test(options);
}

/** A folder that nobody else can write to, or null: compiled code is run without another look at it. */
function ownFolder(): string | null {
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  try {
    const home = isAbsolute(given) ? given : join(homedir(), ".cache");
    const folder = join(home, "cofferdam");
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found !== undefined) return found.isDirectory() && isPrivate(found) ? folder : null;
    // Not in the home of another user, whom root may stand in for.
    if (!isOwn(statSync(home, { throwIfNoEntry: false }) ?? statSync(dirname(home)))) return null;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return null;
  }
}

function isOwn({ uid }: { readonly uid: number }): boolean {
  return uid === process.geteuid?.();
}

function isPrivate(found: { readonly uid: number; readonly mode: number }): boolean {
  return isOwn(found) && (found.mode & 0o022) === 0;
}

function keepIn(folder: string): (command: string) => void {
  const kept: Kept[] = [];
  const { extensions } = createRequire(import.meta.url);
  const compile = extensions[".js"];
  extensions[".cjs"] = (module, filename) => {
    // Others would only be read twice.
    const source = dirname(filename).endsWith(CHUNKS) ? readFileSync(filename, "utf8") : "";
    const build = MARK.exec(source.slice(-TAIL))?.[1];
    if (source.length < SHORTEST || build === undefined) {
      compile?.(module, filename);
      return;
    }
    const name = `${basename(filename, ".cjs")}-${build}-${process.version}-${process.arch}`;
    const file = join(folder, name);
    const { commands, code } = read(file);
    const script = new Script(nodeModule.wrap(source), {
      filename,
      ...(code !== null && { cachedData: code }),
    });
    const isUsed = code !== null && script.cachedDataRejected !== true;
    kept.push({ file, script, commands: isUsed ? commands : [] });
    const run = script.runInThisContext() as (...args: unknown[]) => void;
    run(module.exports, createRequire(filename), module, filename, dirname(filename));
  };
  let command = "";
  process.once("exit", () => {
    const stale = kept.filter(({ commands }) => !commands.includes(command));
    for (const one of stale) write(one, command);
    if (stale.length > 0) forgetOld(folder);
  });
  return (name) => {
    command = name;
  };
}

/** What is kept in a file: a line about it, then the code. */
function read(file: string): { readonly commands: string[]; readonly code: Buffer | null } {
  try {
    const bytes = readFileSync(file);
    const end = bytes.indexOf("\n");
    const { commands, size } = JSON.parse(bytes.toString("utf8", 0, end)) as About;
    const code = bytes.subarray(end + 1);
    if (code.length === size) return { commands, code };
  } catch {
    // It is not there yet, or of no use.
  }
  return { commands: [], code: null };
}

interface About {
  readonly commands: string[];
  readonly size: number;
}

/** V8 believes what it reads: the file has its name only when all of it is on the disk. */
function write({ file, script, commands }: Kept, command: string): void {
  const unfinished = `${file}.${process.pid}`;
  try {
    const code = script.createCachedData();
    const about: About = { commands: [...commands, command], size: code.length };
    const fd = openSync(unfinished, "wx", 0o600);
    try {
      writeFileSync(fd, Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), code]));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(unfinished, file);
  } catch {
    // There is no room, or no folder any more: the next command compiles again.
    forget(unfinished);
  }
}

/** Removes what earlier versions left. */
function forgetOld(folder: string): void {
  try {
    const paths = readdirSync(folder).map((name) => join(folder, name));
    for (const path of paths) if (Date.now() - statSync(path).mtimeMs > OLD) forget(path);
  } catch {
    // Another command removes them as well.
  }
}

function forget(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It stays for a later one.
  }
}
