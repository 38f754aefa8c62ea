import { spawnSync } from "node:child_process";
import { expect } from "vitest";

/** One entry of a tree as programs other than ours see it. Texts hold one character a byte. */
export interface OracleRecord {
  /** Path below the root; empty for the root itself. */
  readonly path: string;
  /** Letter of `find -printf %y`: f, d, l, p, s, b or c. */
  readonly type: string;
  /** Permission bits in octal, special bits included. */
  readonly mode: string;
  /** `user:group` as numbers. */
  readonly owner: string;
  /** Seconds with nine digits behind the point. */
  readonly mtime: string;
  /** Bytes of a regular file. */
  readonly size?: string;
  /** Digest of a regular file's bytes. */
  readonly sha256?: string;
  /** Text of a symbolic link. */
  readonly target?: string;
  /** `major:minor` in hexadecimal of a device file. */
  readonly device?: string;
  /** Extended attributes with their values in hexadecimal. */
  readonly xattrs: Readonly<Record<string, string>>;
  /** All paths of this file when it has several names in the tree. */
  readonly links?: readonly string[];
}

/** A tree, sorted by path bytes. */
export type Oracle = readonly OracleRecord[];

/** What a comparison may leave out, each with a reason in the test that does. */
export type OracleAspect =
  "owner" | "mtimes" | "directoryMtimes" | "rootMtime" | "xattrs" | "hardLinks" | "specialFiles";

/** Choices for taking a snapshot. */
export interface OracleOptions {
  /** Paths below the root that are neither listed nor read. */
  readonly exclude?: readonly string[];
}

/** Choices for comparing two snapshots. */
export interface OracleComparison {
  readonly ignore?: readonly OracleAspect[];
}

const FIELDS = ["%P", "%y", "%m", "%U:%G", "%T@", "%s", "%l", "%D:%i", "%n"];

/** Describes a tree with `find`, `sha256sum`, `getfattr` and `stat` alone. Throws when one fails. */
export function takeOracle(root: string, options: OracleOptions = {}): Oracle {
  const listed = list(root, options.exclude ?? []);
  const digests = sha256(
    root,
    pathsOf(listed, (row) => row.type === "f"),
  );
  const devices = deviceNumbers(
    root,
    pathsOf(listed, (row) => /[bc]/.test(row.type)),
  );
  const xattrs = extendedAttributes(root, pathsOf(listed));
  const names = hardLinkNames(listed);
  return listed
    .map((row): OracleRecord => {
      const { path, type, mode, owner, mtime, size, target, identity } = row;
      const links = names.get(identity) ?? [];
      return {
        path,
        type,
        mode,
        owner,
        mtime,
        ...(type === "f" && { size, sha256: digests.get(path) ?? "" }),
        ...(type === "l" && { target }),
        ...(devices.has(path) && { device: devices.get(path) ?? "" }),
        xattrs: xattrs.get(path) ?? {},
        ...(links.length > 1 && { links }),
      };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** One readable line for each difference; empty when the trees are oracle-equal. */
export function oracleDifferences(
  before: Oracle,
  after: Oracle,
  comparison: OracleComparison = {},
): string[] {
  const ignored = new Set(comparison.ignore ?? []);
  const old = keyed(before, ignored);
  const now = keyed(after, ignored);
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted((a, b) => (a < b ? -1 : 1));
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was === undefined) return [`${show(path)}: appeared (${is?.["type"]})`];
    if (is === undefined) return [`${show(path)}: disappeared (${was["type"]})`];
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return keys
      .filter((key) => was[key] !== is[key])
      .map((key) => `${show(path)}: ${key} ${was[key] ?? "none"} -> ${is[key] ?? "none"}`);
  });
}

/** Fails the test with the list of differences unless both trees agree in everything not ignored. */
export function expectOracleEqual(
  before: Oracle,
  after: Oracle,
  comparison: OracleComparison = {},
): void {
  expect(oracleDifferences(before, after, comparison)).toEqual([]);
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly mode: string;
  readonly owner: string;
  readonly mtime: string;
  readonly size: string;
  readonly target: string;
  readonly identity: string;
  readonly names: number;
}

function list(root: string, exclude: readonly string[]): Row[] {
  const pruned = exclude.flatMap((path) => ["-path", globLiteral(`./${path}`), "-prune", "-o"]);
  const format = FIELDS.join("\\0") + "\\0";
  const cells = run(root, "find", [".", ...pruned, "-printf", format])
    .split("\0")
    .slice(0, -1);
  const rows: Row[] = [];
  for (let at = 0; at < cells.length; at += FIELDS.length) {
    const [path, type, mode, owner, mtime, size, target, identity, names] = cells.slice(at);
    rows.push({
      path: path ?? "",
      type: type ?? "",
      mode: mode ?? "",
      owner: owner ?? "",
      // find prints ten digits, the kernel knows nine.
      mtime: (mtime ?? "").slice(0, -1),
      size: size ?? "",
      target: target ?? "",
      identity: identity ?? "",
      names: Number(names),
    });
  }
  return rows;
}

function pathsOf(rows: readonly Row[], wanted: (row: Row) => boolean = () => true): string[] {
  return rows.filter(wanted).map((row) => row.path);
}

function sha256(root: string, paths: readonly string[]): Map<string, string> {
  // "-z" also switches off the escaping of names with newlines and backslashes.
  const lines = runOver(root, paths, ["sha256sum", "-z", "-b", "--"]).split("\0").slice(0, -1);
  return new Map(lines.map((line) => [line.slice(66 + "./".length), line.slice(0, 64)]));
}

function deviceNumbers(root: string, paths: readonly string[]): Map<string, string> {
  const lines = runOver(root, paths, ["stat", "--printf=%t:%T\\0", "--"]).split("\0");
  return new Map(paths.map((path, at) => [path, lines[at] ?? ""]));
}

function extendedAttributes(
  root: string,
  paths: readonly string[],
): Map<string, Record<string, string>> {
  const options = ["-h", "-d", "-m", "-", "-e", "hex", "--absolute-names", "--"];
  const found = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const line of runOver(root, paths, ["getfattr", ...options]).split("\n")) {
    if (line.startsWith("# file: ")) {
      const path = unescapeOctal(line.slice("# file: ".length));
      current = {};
      found.set(path === "." ? "" : path.slice("./".length), current);
    } else if (line !== "") {
      const [, name, value] = /^(.*?)(?:=(0x[0-9a-f]*))?$/.exec(line) ?? [];
      current[unescapeOctal(name ?? "")] = value ?? "";
    }
  }
  return found;
}

function hardLinkNames(rows: readonly Row[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    if (row.type === "d" || row.names < 2) continue;
    const group = groups.get(row.identity) ?? [];
    group.push(row.path);
    groups.set(row.identity, group);
  }
  for (const group of groups.values()) group.sort();
  return groups;
}

function keyed(
  oracle: Oracle,
  ignored: ReadonlySet<OracleAspect>,
): Map<string, Record<string, string | undefined>> {
  const kept = oracle.filter(({ type }) => !ignored.has("specialFiles") || /[fdl]/.test(type));
  return new Map(kept.map((record) => [record.path, comparable(record, ignored)]));
}

function comparable(
  record: OracleRecord,
  ignored: ReadonlySet<OracleAspect>,
): Record<string, string | undefined> {
  const { path, xattrs, links, owner, mtime, ...rest } = record;
  const withoutTime =
    ignored.has("mtimes") ||
    (ignored.has("directoryMtimes") && record.type === "d") ||
    (ignored.has("rootMtime") && path === "");
  return {
    ...rest,
    ...(!ignored.has("owner") && { owner }),
    ...(!withoutTime && { mtime }),
    ...(!ignored.has("hardLinks") && links && { links: links.map(show).join(" = ") }),
    ...(!ignored.has("xattrs") && xattrsWithPrefix(xattrs)),
  };
}

function xattrsWithPrefix(xattrs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(xattrs).map(([name, value]) => [`xattr ${name}`, value]),
  );
}

function run(cwd: string, command: string, args: readonly string[], input = ""): string {
  const done = spawnSync(command, args, {
    cwd,
    input: Buffer.from(input, "latin1"),
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    maxBuffer: 1024 ** 3,
  });
  if (done.error) throw done.error;
  if (done.status !== 0) {
    throw new Error(`${command} failed in ${cwd}: ${done.stderr.toString("latin1")}`);
  }
  return done.stdout.toString("latin1");
}

/** Hands paths to a program through `xargs`, because arguments of a child of Node are UTF-8. */
function runOver(root: string, paths: readonly string[], command: readonly string[]): string {
  if (paths.length === 0) return "";
  const input = paths.map((path) => `${path === "" ? "." : `./${path}`}\0`).join("");
  return run(root, "xargs", ["-0", ...command], input);
}

function globLiteral(path: string): string {
  return path.replaceAll(/[[\]*?\\]/g, "\\$&");
}

function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function show(path: string): string {
  return JSON.stringify(path === "" ? "." : path);
}
