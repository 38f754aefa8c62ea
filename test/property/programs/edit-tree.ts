import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createInterface } from "node:readline";

/*
 * Edits trees at random, but equally for equal seeds and equal trees. Reads one request a line (root, seed, count) and
 * answers each with a line. It knows nothing of the project.
 */

interface EditRequest {
  readonly root: string;
  readonly seed: number;
  readonly count: number;
  readonly hardLinks: boolean;
  readonly linkLoops: boolean;
  readonly remadeFolders: boolean;
}

type Random = (below: number) => number;

function random(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    // Mulberry32: small, well spread, the same on every machine.
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const NAMES = ["a", "b", "c.txt", "d-e", "f g", "über", "-dash", "new\nline", "x,y:z", ".hidden"];

class Editor {
  readonly #root: string;
  readonly #next: Random;
  readonly #hardLinks: boolean;
  readonly #linkLoops: boolean;
  readonly #remadeFolders: boolean;
  #time = 1_000_000_000;

  constructor({ root, seed, hardLinks, linkLoops, remadeFolders }: EditRequest) {
    this.#root = root;
    this.#next = random(seed);
    this.#hardLinks = hardLinks;
    this.#linkLoops = linkLoops;
    this.#remadeFolders = remadeFolders;
  }

  step(): void {
    const entries = this.#list("");
    const files = entries.filter(({ type }) => type === "f");
    const folders = ["", ...entries.filter(({ type }) => type === "d").map(({ path }) => path)];
    const links = entries.filter(({ type }) => type === "l");
    const place = (): string => this.#join(this.#pick(folders), this.#pick(NAMES));
    const edits: (() => void)[] = [
      () => this.#create(place()),
      () => this.#create(place()),
      () => this.#with(files, (path) => this.#overwrite(path)),
      () => this.#with(files, (path) => appendFileSync(path, this.#text())),
      () => this.#with(files, (path) => truncateSync(path, this.#next(40))),
      () => this.#with(files, (path) => this.#replace(path)),
      () => this.#with(entries, (path) => this.#move(path, place())),
      () => this.#with(files, (path) => unlinkSync(path)),
      () =>
        this.#with(
          folders.slice(1).map((path) => ({ path })),
          (path) => rmSync(path, { recursive: true }),
        ),
      () =>
        this.#with(files, (path) => chmodSync(path, [0o600, 0o644, 0o755, 0o400][this.#next(4)]!)),
      () =>
        this.#with(
          folders.slice(1).map((path) => ({ path })),
          (path) => chmodSync(path, [0o700, 0o755][this.#next(2)]!),
        ),
      () => this.#free(this.#folder(place()), (path) => mkdirSync(path)),
      () => this.#free(place(), (path) => symlinkSync(this.#target(), path)),
      () =>
        this.#with(links, (path) => {
          unlinkSync(path);
          symlinkSync(`to-${this.#pick(NAMES)}`, path);
        }),
      () => this.#with(files, (from) => this.#link(from, place())),
      () => this.#with(entries, (path) => this.#changeType(path)),
      () =>
        this.#with(files, (path) =>
          execFileSync("setfattr", ["-n", "user.note", "-v", `v${this.#next(9)}`, "--", path]),
        ),
      () =>
        this.#with(files, (path) => {
          const t = this.#time++;
          lutimesSync(path, t, t);
        }),
    ];
    edits[this.#next(edits.length)]?.();
  }

  #create(relative: string): void {
    this.#free(relative, (path) => writeFileSync(path, this.#text()));
  }

  #overwrite(path: string): void {
    const fd = openSync(path, "r+");
    writeSync(fd, this.#text());
    closeSync(fd);
  }

  /** As editors save: a new file, renamed over the old one. */
  #replace(path: string): void {
    writeFileSync(`${path}.tmp`, this.#text());
    renameSync(`${path}.tmp`, path);
  }

  #move(path: string, to: string): void {
    this.#free(lstatSync(path).isDirectory() ? this.#folder(to) : to, (target) => {
      if (target.startsWith(`${path}/`)) return;
      // `mv` copies where the kernel refuses to rename, as every user would.
      execFileSync("mv", ["-n", "--", path, target]);
    });
  }

  #link(from: string, to: string): void {
    if (this.#hardLinks) this.#free(to, (path) => linkSync(from, path));
  }

  #changeType(path: string): void {
    rmSync(path, { recursive: true });
    const kind = this.#next(3);
    if (kind === 0) writeFileSync(path, this.#text());
    else if (kind === 1 || !this.#remadeFolders) symlinkSync("elsewhere", path);
    else {
      mkdirSync(path);
      writeFileSync(`${path}/inside`, this.#text());
    }
  }

  /** A path for a folder: any, also where another one was, unless that is to be avoided. */
  #folder(path: string): string {
    return this.#remadeFolders ? path : `${path}.${this.#next(1_000_000)}`;
  }

  /** What a link leads to: any name, also its own, unless loops are to be avoided. */
  #target(): string {
    const name = this.#pick(NAMES);
    return this.#linkLoops ? name : `to-${name}`;
  }

  #text(): string {
    return `text ${this.#next(1_000_000)}\n`.repeat(1 + this.#next(4));
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#next(choices.length)]!;
  }

  #with(entries: readonly { path: string }[], edit: (path: string) => void): void {
    if (entries.length > 0) edit(`${this.#root}/${this.#pick(entries).path}`);
  }

  #free(relative: string, edit: (path: string) => void): void {
    const path = `${this.#root}/${relative}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) edit(path);
  }

  #join(folder: string, name: string): string {
    return folder === "" ? name : `${folder}/${name}`;
  }

  #list(folder: string): { path: string; type: "f" | "d" | "l" }[] {
    const entries = readdirSync(`${this.#root}/${folder}`, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    return entries.flatMap((entry) => {
      const path = this.#join(folder, entry.name);
      if (entry.isDirectory()) return [{ path, type: "d" as const }, ...this.#list(path)];
      return [{ path, type: entry.isSymbolicLink() ? ("l" as const) : ("f" as const) }];
    });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line) as EditRequest;
  try {
    const editor = new Editor(request);
    for (let step = 0; step < request.count; step++) editor.step();
    process.stdout.write("ok\n");
  } catch (error) {
    process.stdout.write(`${String(error).replaceAll("\n", " ")}\n`);
  }
});
