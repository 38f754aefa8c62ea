import { createHash, randomUUID } from "node:crypto";
import { displayPath, toBytePath } from "../../model/byte-path.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import type { EntryState } from "../../model/change.ts";
import { OutputLimitError } from "../../platform/run.ts";
import { FILE, type GitEntry, LINK, joinZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";

/** An entry of git at a path. */
export type PlacedEntry = GitEntry & { readonly path: RelativePath };

/** What the content of an entry tells. */
export type ContentFacts = Pick<EntryState, "size" | "hash" | "target">;

const OBJECTS_PER_CALL = 256;
const NEWLINE = 10;

/** Content that the repository holds. */
export class Blobs {
  readonly #git: Git;
  readonly #call: GitCall;

  constructor(git: Git, call: GitCall) {
    this.#git = git;
    this.#call = call;
  }

  /** Size, hash and link text of each as a checkout would have them, by path. */
  async describe(entries: readonly PlacedEntry[]): Promise<Map<RelativePath, ContentFacts>> {
    const facts = new Map<RelativePath, ContentFacts>();
    const files = entries.filter(({ mode }) => mode.startsWith(FILE));
    await this.#visit(files, (path, content) => {
      facts.set(path, { size: content.length, hash: sha256(content), target: null });
    });
    const links = entries.filter(({ mode }) => mode === LINK);
    await this.#visit(links, (path, content) => {
      facts.set(path, { size: 0, hash: null, target: displayPath(toBytePath(content)) });
    });
    return facts;
  }

  /** The contents of files as a checkout would write them. */
  readAll(files: readonly PlacedEntry[]): Promise<readonly Buffer[]> {
    return this.#read(files);
  }

  /** Visits the contents of objects as the repository stores them, by id; null for one that is larger than can be read. */
  async visitStored(
    oids: readonly string[],
    visit: (oid: string, content: Buffer | null) => void,
  ): Promise<void> {
    await inParts(oids, (part) => visitPart(part, (some) => this.#ask(some, []), visit));
  }

  async #visit(
    entries: readonly PlacedEntry[],
    visit: (path: RelativePath, content: Buffer) => void,
  ): Promise<void> {
    const read = (part: readonly PlacedEntry[]): Promise<Buffer[]> => this.#read(part);
    await inParts(entries, (part) =>
      visitPart(part, read, ({ path }, content) => {
        if (content === null) throw new Error(`${displayPath(path)} is too large to be read`);
        visit(path, content);
      }),
    );
  }

  /** Reads either files or links: only files are converted, by the attributes of their paths. */
  #read(entries: readonly PlacedEntry[]): Promise<Buffer[]> {
    if (entries[0]?.mode === LINK)
      return this.#ask(
        entries.map(({ oid }) => oid),
        [],
      );
    return this.#ask(
      entries.map(({ oid, path }) => `${oid} ${path}`),
      ["--filters"],
    );
  }

  async #ask(objects: readonly string[], how: readonly string[]): Promise<Buffer[]> {
    // git tells the size before a conversion, so a name that is in no content says where each one ends.
    const end = `end-${randomUUID()}`;
    const input = joinZero(objects.flatMap((object) => [object, end]));
    const output = await this.#git.run(["cat-file", "--batch", "-z", ...how], {
      ...this.#call,
      input,
    });
    return cutBatch(output, objects.length, `\n${end} missing\n`);
  }
}

async function inParts<T>(
  all: readonly T[],
  work: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < all.length; start += OBJECTS_PER_CALL)
    await work(all.slice(start, start + OBJECTS_PER_CALL));
}

/** In halves where it is too much for one call: how large a file is after its conversion nobody knows before. */
async function visitPart<T>(
  part: readonly T[],
  read: (part: readonly T[]) => Promise<readonly Buffer[]>,
  visit: (one: T, content: Buffer | null) => void,
): Promise<void> {
  let contents: readonly (Buffer | null)[] = [null];
  try {
    contents = await read(part);
  } catch (thrown) {
    if (!(thrown instanceof OutputLimitError)) throw thrown;
    if (part.length > 1) {
      const half = part.length >> 1;
      await visitPart(part.slice(0, half), read, visit);
      return visitPart(part.slice(half), read, visit);
    }
  }
  part.forEach((one, at) => visit(one, contents[at] ?? null));
}

/** Takes the answer of `cat-file --batch` apart: a line `<id> <type> <size>`, the content, and the end. */
function cutBatch(output: Buffer, count: number, end: string): Buffer[] {
  const contents: Buffer[] = [];
  let at = 0;
  for (let number = 0; number < count; number++) {
    const start = output.indexOf(NEWLINE, at) + 1;
    const header = output.toString("latin1", at, Math.max(at, start - 1));
    const stop = output.indexOf(end, start);
    if (stop < 0 || !/^[0-9a-f]+ blob \d+$/.test(header))
      throw new Error(`git cannot give an object: ${header}`);
    contents.push(output.subarray(start, stop));
    at = stop + end.length;
  }
  return contents;
}

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
