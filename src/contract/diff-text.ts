import type { Change, EntryState } from "../model/change.ts";

/** How the content of both sides is obtained; called only when text is wanted. */
export interface ContentReader {
  /** Content before the change, or null when it cannot be told any more. */
  readonly readBefore: (change: Change) => Promise<Uint8Array | null>;
  readonly readAfter: (change: Change) => Promise<Uint8Array | null>;
}

const MAX_TEXT_BYTES = 4 << 20;
const MAX_EDIT_LENGTH = 5_000;
const SNIFFED_BYTES = 8_000;
const HEADER_LINES = 3;

/** The changes as one unified text: hunks for textual files, one line for everything else. */
export async function renderText(
  changes: readonly Change[],
  content: ContentReader,
  options: { readonly paths?: readonly string[]; readonly context?: number } = {},
): Promise<string> {
  const wanted = options.paths?.map((path) => (path === "" ? "" : `${path}/`));
  const parts: string[] = [];
  for (const change of changes) {
    const isWanted = wanted?.some((folder) => `${change.path}/`.startsWith(folder)) ?? true;
    if (isWanted) parts.push(await renderChange(change, content, options.context ?? 3));
  }
  return parts.join("");
}

async function renderChange(
  change: Change,
  content: ContentReader,
  context: number,
): Promise<string> {
  const head = [
    `diff --coffer ${nameOf(change, "a")} ${nameOf(change, "b")}`,
    ...describeSides(change),
  ];
  const before = change.before?.type === "file" ? await content.readBefore(change) : null;
  const after = change.after?.type === "file" ? await content.readAfter(change) : null;
  const hasHunks =
    change.kind === "added" || change.kind === "deleted" || change.kind === "modified";
  if (hasHunks && (before !== null || after !== null))
    head.push(await hunks(change, before, after, context));
  return `${head.filter((line) => line !== "").join("\n")}\n`;
}

function describeSides(change: Change): string[] {
  const { kind, before, after, count, renamedFrom, renamedTo, notes } = change;
  const lines: string[] = [];
  if (kind === "added") lines.push(`new ${describe(after!)}`);
  if (kind === "deleted") lines.push(`deleted ${describe(before!)}`);
  if (kind === "typeChanged") lines.push(`old ${describe(before!)}`, `new ${describe(after!)}`);
  if (kind === "linkChanged")
    lines.push(`old link ${quoted(before!.target!)}`, `new link ${quoted(after!.target!)}`);
  if (before !== null && after !== null && before.type === after.type) {
    if (before.mode !== after.mode)
      lines.push(`old mode ${octal(before.mode)}`, `new mode ${octal(after.mode)}`);
    if (before.uid !== after.uid || before.gid !== after.gid) {
      lines.push(`old owner ${before.uid}:${before.gid}`, `new owner ${after.uid}:${after.gid}`);
    }
    if (JSON.stringify(before.xattrs) !== JSON.stringify(after.xattrs))
      lines.push("extended attributes differ");
    if (kind === "attributesChanged" && before.mtimeNs !== after.mtimeNs)
      lines.push("modification time differs");
  }
  if (count !== undefined) lines.push(`${count} rows like this`);
  if (renamedFrom !== undefined) lines.push(`renamed from ${quoted(renamedFrom)}`);
  if (renamedTo !== undefined) lines.push(`renamed to ${quoted(renamedTo)}`);
  for (const note of notes ?? [])
    lines.push(`note: ${note.replaceAll(CONTROLS, (one) => escaped(Buffer.from(one)))}`);
  return lines;
}

function describe(side: EntryState): string {
  const target = side.target === null ? "" : ` -> ${quoted(side.target)}`;
  return `${side.type} mode ${octal(side.mode)}${target}`;
}

async function hunks(
  change: Change,
  before: Uint8Array | null,
  after: Uint8Array | null,
  context: number,
): Promise<string> {
  const [left, right] = [before ?? new Uint8Array(), after ?? new Uint8Array()];
  if (isBinary(left) || isBinary(right) || left.length + right.length > MAX_TEXT_BYTES) {
    return `Binary content differs (${left.length} bytes to ${right.length} bytes)`;
  }
  const { createTwoFilesPatch } = await import("diff/lib/patch/create.js");
  // Every byte that is no UTF-8 would look the same, and so might both sides.
  const isText = isUtf8(left) && isUtf8(right);
  const decoder = new TextDecoder(isText ? "utf-8" : "windows-1252", { ignoreBOM: true });
  const [oldText, newText] = [decoder.decode(left), decoder.decode(right)];
  const from = before === null && change.before === null ? "/dev/null" : nameOf(change, "a");
  const to = after === null ? "/dev/null" : nameOf(change, "b");
  const patch = createTwoFilesPatch("a", "b", oldText, newText, undefined, undefined, {
    context,
    maxEditLength: MAX_EDIT_LENGTH,
  });
  if (patch === undefined)
    return `Content differs in too many places (${left.length} bytes to ${right.length} bytes)`;
  // The library's own names, below a ruler that no tool reads, are not those of files in other encodings.
  const lines = patch.replace(/\n$/, "").split("\n").slice(HEADER_LINES);
  const note = isText ? [] : ["Content is no UTF-8, and shown as Latin-1"];
  return [...note, `--- ${from}`, `+++ ${to}`, ...lines].join("\n");
}

function isUtf8(content: Uint8Array): boolean {
  const bytes = Buffer.from(content);
  return Buffer.from(bytes.toString("utf8")).equals(bytes);
}

function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, SNIFFED_BYTES).includes(0);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

/**
 * The name of one side as git writes it: quoted where it has quotes, control characters, or bytes that are no text, so
 * that one line stays one line and the name stays the name.
 */
function nameOf({ path, pathBytes }: Change, side: "a" | "b"): string {
  if (pathBytes === undefined) return quoted(`${side}/${path}`);
  return `"${side}/${escaped(Buffer.from(pathBytes, "hex"))}"`;
}

/** What ends a line or controls a terminal, also by reordering what stands around it. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A text as git writes names: in quotes where it would not be one plain word otherwise. */
function quoted(text: string): string {
  const isPlain = text.search(CONTROLS) < 0 && !/["\\]/.test(text);
  return isPlain ? text : `"${escaped(Buffer.from(text))}"`;
}

function escaped(bytes: Buffer): string {
  return Array.from(bytes, escapedByte).join("");
}

const SHORT: Readonly<Record<number, string>> = {
  9: "\\t",
  10: "\\n",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

function escapedByte(byte: number): string {
  const plain = byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : null;
  return SHORT[byte] ?? plain ?? `\\${byte.toString(8).padStart(3, "0")}`;
}
