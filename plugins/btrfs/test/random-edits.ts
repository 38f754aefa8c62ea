import * as fs from "node:fs";

const NAMES = ["a", "b", "c", "d", "two words", "line\nbreak", "\xff\xfe", "o300-7-0"];
/** What an edit may run into because the chosen paths do not fit it. */
const EXPECTED = ["EEXIST", "ENOTEMPTY", "EINVAL", "ENOTDIR", "EISDIR", "ENOENT", "ELOOP", "EPERM"];

/** Edits a tree at random; the same seed does the same. Paths are latin1 texts. */
export class RandomEdits {
  readonly #root: string;
  #state: number;

  constructor(root: string, seed: number) {
    this.#root = root;
    this.#state = seed;
  }

  /** Makes so many edits; one that is not possible counts too. */
  make(count: number): void {
    for (let made = 0; made < count; made += 1) {
      try {
        this.#pick(this.#edits)();
      } catch (error) {
        if (!EXPECTED.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      }
    }
  }

  readonly #edits: readonly (() => void)[] = [
    () => fs.writeFileSync(this.#newPath(), this.#text()),
    () => fs.writeFileSync(this.#newPath(), this.#text()),
    () => fs.appendFileSync(this.#file(), this.#text()),
    () => fs.truncateSync(this.#file(), this.#below(5)),
    () => this.#editUnnoticed(this.#file()),
    () => fs.chmodSync(this.#file(), 0o600 + this.#below(0o100)),
    () => fs.lchownSync(this.#entry(), this.#below(9), this.#below(9)),
    () => fs.lutimesSync(this.#entry(), this.#below(1e9), this.#below(1e9)),
    () => fs.mkdirSync(this.#newPath()),
    () => fs.mkdirSync(this.#newPath()),
    () => fs.symlinkSync(this.#text(), this.#newPath()),
    () => fs.linkSync(this.#file(), this.#newPath()),
    () => fs.linkSync(this.#file(), this.#newPath()),
    () => fs.unlinkSync(this.#entry()),
    () => fs.rmdirSync(this.#entry()),
    () => fs.renameSync(this.#entry(), this.#newPath()),
    () => fs.renameSync(this.#entry(), this.#newPath()),
    () => fs.renameSync(this.#entry(), this.#entry()),
    () => this.#swap(this.#entry(), this.#entry()),
    () => this.#replace(this.#entry()),
  ];

  /** Another content of the same length, and the time of the old one. */
  #editUnnoticed(path: Buffer): void {
    const { atimeNs, mtimeNs, size } = fs.lstatSync(path, { bigint: true });
    fs.writeFileSync(path, this.#text().padEnd(Number(size)).slice(0, Number(size)));
    fs.lutimesSync(path, Number(atimeNs / 1_000_000_000n), Number(mtimeNs / 1_000_000_000n));
  }

  #swap(one: Buffer, other: Buffer): void {
    const aside = this.#at("aside");
    fs.renameSync(one, aside);
    try {
      fs.renameSync(other, one);
      fs.renameSync(aside, other);
    } catch (error) {
      fs.renameSync(aside, this.#at(`aside-${this.#below(1e9)}`));
      throw error;
    }
  }

  /** A folder gives way to a file, and anything else to a folder with a file in it. */
  #replace(path: Buffer): void {
    const isFolder = fs.lstatSync(path).isDirectory();
    fs.rmSync(path, { recursive: true });
    if (!isFolder) fs.mkdirSync(path);
    fs.writeFileSync(isFolder ? path : Buffer.concat([path, Buffer.from("/a")]), this.#text());
  }

  #newPath(): Buffer {
    const folders = ["", ...this.#list((stats) => stats.isDirectory())];
    return this.#at(`${this.#pick(folders)}/${this.#pick(NAMES)}`);
  }

  #file(): Buffer {
    return this.#at(this.#pick(this.#list((stats) => stats.isFile())));
  }

  #entry(): Buffer {
    return this.#at(this.#pick(this.#list(() => true)));
  }

  #list(isWanted: (stats: fs.Stats) => boolean, folder = ""): string[] {
    return fs.readdirSync(this.#at(folder), "latin1").flatMap((name) => {
      const path = `${folder}/${name}`;
      const stats = fs.lstatSync(this.#at(path));
      const inside = stats.isDirectory() ? this.#list(isWanted, path) : [];
      return isWanted(stats) ? [path, ...inside] : inside;
    });
  }

  #at(path: string): Buffer {
    return Buffer.from(`${this.#root}/${path}`, "latin1");
  }

  #text(): string {
    return String(this.#below(1e9));
  }

  #pick<T>(things: readonly T[]): T {
    const thing = things[this.#below(things.length)];
    if (thing === undefined) throw Object.assign(new Error("nothing to pick"), { code: "ENOENT" });
    return thing;
  }

  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}
