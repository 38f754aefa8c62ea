import type { ProgramResult } from "./run-program.ts";
import { outputOf, runProgram } from "./run-program.ts";

/** A tree as foreign programs see it: path to one line about the entry; the root is `.`. */
export type Snapshot = ReadonlyMap<string, string>;

/** Starts a program in the folder that is looked at. */
export type RunHere = (program: string, args: readonly string[]) => Promise<ProgramResult>;

const END = "\u0001end";
const LOOK = `
look() { find . $1 -printf '%P\\0%y\\0%m %U:%G\\0%T@\\0%s\\0%l\\0'; }
read_all() { find . $1 -type f -print0 | xargs -0 -r sha256sum -z -b --; }
look "$1" && printf '${END}\\0' && read_all "$1"
`;
const IDENTIFY = String.raw`find . $1 -printf '%P\0%i %C@\0'`;

/**
 * Type, mode, owner, time, link text and digest of every entry, told by `find` and `sha256sum` alone. Two snapshots
 * are equal when nothing differs. What lies at `hidden`, seen from the folder, is left out.
 */
export async function takeSnapshot(
  run: RunHere,
  hidden: readonly string[] = [],
): Promise<Snapshot> {
  const cells = outputOf("find", await run("sh", ["-c", LOOK, "sh", without(hidden)]))
    .toString("latin1")
    .split("\0");
  const end = cells.indexOf(END);
  const digests = new Map(
    cells
      .slice(end + 1)
      .filter((line) => line !== "")
      .map((line) => [line.slice(66 + "./".length), line.slice(0, 64)]),
  );
  const rows = new Map<string, string>();
  for (let at = 0; at < end; at += 6) {
    const [path = "", type, attributes, time, size, target] = cells.slice(at, at + 6);
    const content = type === "f" ? ` ${size} bytes ${digests.get(path)}` : "";
    const text = type === "l" ? ` -> ${target}` : "";
    rows.set(path === "" ? "." : path, `${type} ${attributes} ${time}${content}${text}`);
  }
  return sorted(rows);
}

/** Inode and change time of every entry: what no program can forge, so equal ones were never touched. */
export async function takeIdentities(
  run: RunHere,
  hidden: readonly string[] = [],
): Promise<Snapshot> {
  const cells = outputOf("find", await run("sh", ["-c", IDENTIFY, "sh", without(hidden)]))
    .toString("latin1")
    .split("\0");
  const rows = new Map<string, string>();
  for (let at = 0; at + 1 < cells.length; at += 2) rows.set(cells[at] || ".", cells[at + 1]!);
  return sorted(rows);
}

/** The snapshot of a folder of this machine. */
export function snapshotOf(folder: string, hidden?: readonly string[]): Promise<Snapshot> {
  return takeSnapshot((program, args) => runProgram(folder, program, args), hidden);
}

/** The identities in a folder of this machine. */
export function identitiesOf(folder: string, hidden?: readonly string[]): Promise<Snapshot> {
  return takeIdentities((program, args) => runProgram(folder, program, args), hidden);
}

/** What keeps `find` out of some paths; plain names alone, since the shell splits it. */
function without(hidden: readonly string[]): string {
  for (const path of hidden)
    if (!/^[\w./-]+$/.test(path))
      throw new Error(`${path} cannot be left out: it is no plain name`);
  return hidden.map((path) => `-path ./${path} -prune -o`).join(" ");
}

function sorted(rows: ReadonlyMap<string, string>): Snapshot {
  return new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
}
