import type { StatBuffer } from "../../platform/native/index.ts";
import { FIELD, Manifest, RECORD_WORDS } from "./manifest.ts";

/** Collects records while a tree is walked; memory grows by doubling. */
export class ManifestBuilder {
  #words = new Uint32Array(1024 * RECORD_WORDS);
  #names = Buffer.alloc(64 * 1024);
  #nameBytes = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds a record for the entry that the buffer holds, and gives its number. */
  add(parent: number, name: string, stat: StatBuffer): number {
    const record = this.#count++;
    if ((record + 1) * RECORD_WORDS > this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    const view = this.#view();
    view.set(record, FIELD.mode, stat.mode);
    view.set(record, FIELD.uid, stat.uid);
    view.set(record, FIELD.gid, stat.gid);
    view.set(record, FIELD.nlink, stat.nlink);
    view.setWide(record, FIELD.size, stat.sizeNumber);
    view.setWide(record, FIELD.baseIno, stat.inoNumber);
    view.setTime(record, FIELD.baseMtime, stat.mtimeSeconds, stat.mtimeNanoseconds);
    view.setTime(record, FIELD.baseCtime, stat.ctimeSeconds, stat.ctimeNanoseconds);
    view.set(record, FIELD.parent, parent);
    view.set(record, FIELD.nameOffset, this.#text(name));
    view.set(record, FIELD.nameLength, name.length);
    return record;
  }

  set(record: number, field: number, value: number): void {
    this.#words[record * RECORD_WORDS + field] = value;
  }

  get(record: number, field: number): number {
    return this.#words[record * RECORD_WORDS + field]!;
  }

  /** Keeps the text of a link. */
  setTarget(record: number, target: string): void {
    this.set(record, FIELD.targetOffset, this.#text(target));
    this.set(record, FIELD.targetLength, target.length);
  }

  /** The finished manifest in memory that several threads can share. */
  finish(): Manifest {
    const words = new Uint32Array(new SharedArrayBuffer(this.#count * RECORD_WORDS * 4));
    words.set(this.#words.subarray(0, this.#count * RECORD_WORDS));
    const names = Buffer.from(new SharedArrayBuffer(this.#nameBytes));
    this.#names.copy(names, 0, 0, this.#nameBytes);
    return new Manifest(words, names, this.#count);
  }

  /** The finished manifest of a tree that is its own workspace. */
  finishAsOwnCopy(): Manifest {
    const manifest = this.finish();
    for (let record = 0; record < manifest.count; record++) {
      for (let word = 0; word < FIELD.baseIno - FIELD.ino; word++) {
        manifest.set(record, FIELD.ino + word, manifest.get(record, FIELD.baseIno + word));
      }
      manifest.set(record, FIELD.copyMode, manifest.get(record, FIELD.mode));
      manifest.set(record, FIELD.copyUid, manifest.get(record, FIELD.uid));
      manifest.set(record, FIELD.copyGid, manifest.get(record, FIELD.gid));
    }
    return manifest;
  }

  #view(): Manifest {
    return new Manifest(this.#words, this.#names, this.#count);
  }

  #text(text: string): number {
    const start = this.#nameBytes;
    while (start + text.length > this.#names.length) {
      const larger = Buffer.alloc(this.#names.length * 2);
      this.#names.copy(larger);
      this.#names = larger;
    }
    this.#names.write(text, start, "latin1");
    this.#nameBytes += text.length;
    return start;
  }
}
