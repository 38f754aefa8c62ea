import { createHash } from "node:crypto";
import { displayPath, isTextPath, toBytePath } from "../../model/byte-path.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import type { EntryState } from "../../model/change.ts";
import { type GitEntry, LINK, joinZero } from "./git-output.ts";
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

  /** Size, hash and link text of each as git keeps them, by path. */
  async describe(entries: readonly PlacedEntry[]): Promise<Map<RelativePath, ContentFacts>> {
    const facts = new Map<RelativePath, ContentFacts>();
    const readable = entries.filter(({ mode }) => mode === LINK || mode.startsWith("100"));
    for (let start = 0; start < readable.length; start += OBJECTS_PER_CALL) {
      const part = readable.slice(start, start + OBJECTS_PER_CALL);
      const contents = await this.#read(part);
      part.forEach(({ path, mode }, at) => {
        const content = contents[at] ?? Buffer.alloc(0);
        const isLink = mode === LINK;
        facts.set(path, {
          size: isLink ? 0 : content.length,
          hash: isLink ? null : sha256(content),
          target: isLink ? displayPath(toBytePath(content)) : null,
        });
      });
    }
    return facts;
  }

  /** The content of one entry as a checkout would write it. */
  async read({ path, mode, oid }: PlacedEntry): Promise<Buffer> {
    if (mode === LINK || !isTextPath(path))
      return this.#git.run(["cat-file", "blob", oid], this.#call);
    return this.#git.run(["cat-file", "--filters", `--path=${displayPath(path)}`, oid], this.#call);
  }

  async #read(entries: readonly PlacedEntry[]): Promise<Buffer[]> {
    const input = joinZero(entries.map(({ oid }) => oid));
    const output = await this.#git.run(["cat-file", "--batch", "-z"], { ...this.#call, input });
    return cutBatch(output, entries.length);
  }
}

/** Takes the answer of `cat-file --batch` apart: a line `<id> <type> <size>`, the content, a newline. */
function cutBatch(output: Buffer, count: number): Buffer[] {
  const contents: Buffer[] = [];
  let at = 0;
  for (let number = 0; number < count; number++) {
    const end = output.indexOf(NEWLINE, at);
    const header = output.toString("latin1", at, end);
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1];
    if (end < 0 || size === undefined) throw new Error(`git cannot give an object: ${header}`);
    contents.push(output.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return contents;
}

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
