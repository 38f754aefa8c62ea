import { NameHistory } from "./name-history.ts";

const MAGIC = Buffer.from("btrfs-stream\0");
const STREAM_HEADER_LENGTH = MAGIC.length + 4;
const COMMAND_HEADER_LENGTH = 10;
const ATTRIBUTE_HEADER_LENGTH = 4;

/** The highest command of each version of the format that is understood here. */
const LAST_COMMAND: ReadonlyMap<number, number> = new Map([
  [1, 22],
  [2, 25],
]);
const COMMAND = { subvolume: 1, snapshot: 2, rename: 9, link: 10, end: 21 } as const;
const ATTRIBUTE = { path: 15, pathTo: 16, pathLink: 17, data: 19 } as const;

interface Command {
  readonly kind: number;
  /** Attributes that are paths, as latin1 text, by their type. */
  readonly paths: ReadonlyMap<number, string>;
}

/**
 * The paths at which two snapshots may differ, relative to their root, which is the empty path: read from all that
 * `btrfs send --no-data -q -p BASE NOW` printed. Some name nothing on either side, such as those that new entries have
 * for a moment. What new and removed folders hold is among them; not named by btrfs, and so left to the caller, are
 *
 * - what lies in a folder that was moved and was not itself changed,
 * - the other names of a changed file that has several: one of them is here,
 * - a subvolume inside that was made, moved or removed: the folder that holds it is here.
 *
 * @throws Error when the bytes are no such stream, are of a version not known here, or are not complete.
 */
export function touchedPaths(stream: Buffer): Buffer[] {
  const names = new NameHistory();
  for (const command of commandsOf(stream)) note(command, names);
  return names.paths().map((path) => Buffer.from(path, "latin1"));
}

function note(command: Command, names: NameHistory): void {
  switch (command.kind) {
    // Their path is the name of the snapshot itself.
    case COMMAND.subvolume:
    case COMMAND.snapshot:
    case COMMAND.end:
      return;
    case COMMAND.rename:
      names.move(pathIn(command, ATTRIBUTE.path), pathIn(command, ATTRIBUTE.pathTo));
      return;
    case COMMAND.link:
      names.mention(pathIn(command, ATTRIBUTE.path));
      names.mention(pathIn(command, ATTRIBUTE.pathLink));
      return;
    default:
      names.mention(pathIn(command, ATTRIBUTE.path));
  }
}

function pathIn({ kind, paths }: Command, type: number): string {
  const path = paths.get(type);
  if (path === undefined) {
    throw new Error(`The send stream has a command ${kind} without its attribute ${type}.`);
  }
  return path;
}

function* commandsOf(stream: Buffer): Generator<Command> {
  const version = versionOf(stream);
  let at = STREAM_HEADER_LENGTH;
  let kind = 0;
  while (kind !== COMMAND.end) {
    if (at + COMMAND_HEADER_LENGTH > stream.length) throw cutOff(stream);
    const start = at + COMMAND_HEADER_LENGTH;
    const end = start + stream.readUInt32LE(at);
    if (end > stream.length) throw cutOff(stream);
    kind = stream.readUInt16LE(at + 4);
    if (kind < 1 || kind > (LAST_COMMAND.get(version) ?? 0)) {
      throw new Error(`The send stream has a command ${kind}, which version ${version} has not.`);
    }
    yield { kind, paths: pathsOf(stream.subarray(start, end), version) };
    at = end;
  }
  if (at !== stream.length) throw new Error("The send stream goes on after its last command.");
}

function versionOf(stream: Buffer): number {
  if (!stream.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Error("These bytes are no send stream of btrfs: they do not begin as one.");
  }
  if (stream.length < STREAM_HEADER_LENGTH) throw cutOff(stream);
  const version = stream.readUInt32LE(MAGIC.length);
  if (!LAST_COMMAND.has(version)) {
    throw new Error(`The send stream is of version ${version}; only 1 and 2 can be read.`);
  }
  return version;
}

function pathsOf(attributes: Buffer, version: number): Map<number, string> {
  const paths = new Map<number, string>();
  let at = 0;
  while (at < attributes.length) {
    const type = numberAt(attributes, at);
    // From version 2 on, data is the last attribute of its command and has no length of its own.
    if (version > 1 && type === ATTRIBUTE.data) break;
    const start = at + ATTRIBUTE_HEADER_LENGTH;
    const end = start + numberAt(attributes, at + 2);
    if (end > attributes.length) throw damaged();
    if (type >= ATTRIBUTE.path && type <= ATTRIBUTE.pathLink) {
      paths.set(type, attributes.toString("latin1", start, end));
    }
    at = end;
  }
  return paths;
}

function numberAt(attributes: Buffer, at: number): number {
  if (at + 2 > attributes.length) throw damaged();
  return attributes.readUInt16LE(at);
}

function damaged(): Error {
  return new Error("The send stream has a command whose attributes do not fit into it.");
}

function cutOff(stream: Buffer): Error {
  return new Error(`The send stream is cut off: it ends after ${stream.length} bytes.`);
}
