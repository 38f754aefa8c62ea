import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, realpathSync, statSync, statfsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  PlatformUnsupportedError,
  RecordDamagedError,
  SandboxError,
  describeThrown,
} from "../errors/index.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { syncFolder } from "./durable-file.ts";
import { claimPrivateFolder } from "./private-folder.ts";
import { createRecord, hasFields, readRecordSync, type RecordFormat } from "./record-file.ts";

/** The private folder that holds every durable record of one installation. */
export interface StateDirectory {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Random, made once, at most 16 characters: the middle part of every transaction's gid. */
  readonly installId: string;
}

interface Install {
  readonly installId: string;
}

const INSTALL: RecordFormat<Install> = {
  name: "install",
  version: 1,
  isData: (value): value is Install => hasFields(value, { installId: "string" }),
};

/** File systems that live on another machine, where locks and flushes cannot be trusted. */
const NETWORK_FILE_SYSTEMS = new Map<number, string>([
  [0x6969, "nfs"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x517b, "smb"],
  [0x01021997, "9p"],
  [0x00c36400, "ceph"],
  [0x5346414f, "afs"],
  [0x73757245, "coda"],
  [0x564c, "ncp"],
]);

/** Name of a network file system by its magic number; null for local ones. */
export function networkFileSystem(type: number): string | null {
  return NETWORK_FILE_SYSTEMS.get(type >>> 0) ?? null;
}

/** Where state lives unless the caller says otherwise. The environment is passed in, never read here. */
export function defaultStateDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const base = environment["XDG_STATE_HOME"];
  // The XDG specification says that a relative value is to be ignored.
  const usable = base !== undefined && isAbsolute(base) ? base : join(home, ".local", "state");
  return join(usable, "cofferdam");
}

/**
 * Opens the state directory and makes what is missing. Safe when several processes do it at once.
 * @throws RecordDamagedError (`RECORD_DAMAGED`, reason `foreignOwner`) when others own it, may write to it or planted it.
 * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) on a network file system, or where it cannot be made.
 */
export async function openStateDirectory(path: string): Promise<StateDirectory> {
  try {
    return await open(path);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    const reason = describeThrown(error);
    throw new PlatformUnsupportedError(`The state directory ${path} cannot be used: ${reason}`, {
      data: { what: "state directory", reason },
      operation: "open",
      hint: "Name a folder on a local disk that you may write to (option stateDirectory, or XDG_STATE_HOME).",
      cause: error,
    });
  }
}

async function open(wanted: string): Promise<StateDirectory> {
  makeFolders(dirname(wanted));
  refusePlantedLink(wanted);
  const existing = resolved(wanted);
  const problem = await claimPrivateFolder(existing ?? wanted);
  if (problem !== null) throw foreign(wanted, problem);
  const path = realpathSync(wanted);
  refuseOpenAncestors(path);
  refuseNetwork(path);
  for (const name of ["plans", "tx", "done", "owners"]) await makeFolder(join(path, name));
  return { path, installId: await installIdOf(path) };
}

function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}

function refusePlantedLink(path: string): void {
  try {
    const found = lstatSync(path);
    const trusted = found.uid === process.geteuid?.() || found.uid === 0;
    if (found.isSymbolicLink() && !trusted) throw foreign(path, "a link of another user");
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
  }
}

/** Whoever may write to a folder above without the sticky bit could swap the whole state directory. */
function refuseOpenAncestors(path: string): void {
  for (let at = dirname(path); ; at = dirname(at)) {
    const { mode } = statSync(at);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
      throw foreign(path, `everybody may write to ${at}`);
    if (at === dirname(at)) return;
  }
}

function refuseNetwork(path: string): void {
  const name = networkFileSystem(statfsSync(path).type);
  if (name === null) return;
  throw new PlatformUnsupportedError(`The state directory ${path} lies on a network file system`, {
    data: { what: "state directory", reason: name },
    operation: "open",
    hint: "Name a folder on a local disk (option stateDirectory, or XDG_STATE_HOME).",
  });
}

/** Node's own way to make several folders never ends where none can be made, as in /proc. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
  }
}

async function makeFolder(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(path));
}

async function installIdOf(path: string): Promise<string> {
  const file = join(path, "install.json");
  const known = readRecordSync(file, INSTALL);
  if (known !== null) return known.installId;
  const made = { installId: randomBytes(8).toString("hex") };
  if (await createRecord(file, INSTALL, made)) return made.installId;
  return readRecordSync(file, INSTALL)?.installId ?? made.installId;
}

function foreign(file: string, why: string): RecordDamagedError {
  return new RecordDamagedError(`The state directory ${file} is not private: ${why}`, {
    data: { file, reason: "foreignOwner" },
    operation: "open",
    hint: "Name a folder that only you may enter (mode 0700), or remove the one that is there.",
  });
}
