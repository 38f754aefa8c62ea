import type { RelativePath } from "../../model/byte-path.ts";
import type { StatBuffer } from "../../platform/native/index.ts";
import { type EntryRecord, isSameContent, isSameEntry } from "./entry-record.ts";

/** A real file that nobody but us touched, though its change time moved. */
export interface CarriedTime {
  readonly ino: bigint;
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Follows real files through our own renames and links, each of which moves their change time. A time counts as ours
 * only when the file was the known one right before, and was looked at right after.
 */
export class Custody {
  readonly #own = new Map<bigint, bigint>();
  readonly #sure = new Set<RelativePath>();
  readonly #carried = new Map<bigint, CarriedTime>();

  /** Whether it is the recorded entry, touched by nobody but us since. */
  knows(stat: StatBuffer, record: EntryRecord): boolean {
    if (isSameEntry(stat, record)) return true;
    return isSameContent(stat, record) && this.#own.get(stat.ino) === stat.ctimeNs;
  }

  /** Says that it was known before what we just did to it. */
  keep(stat: StatBuffer): void {
    this.#own.set(stat.ino, stat.ctimeNs);
  }

  /** Says that everything which the step of this slot took out or gave a further name was known right before. */
  vouch(slot: RelativePath): void {
    this.#sure.add(slot);
  }

  /** Whether that was said. */
  isVouched(slot: RelativePath): boolean {
    return this.#sure.has(slot);
  }

  /** Says that a known file is back in the tree; `record` is what it was before the transaction. */
  giveBack(stat: StatBuffer, record: EntryRecord): void {
    if (record.type === "directory") return;
    this.keep(stat);
    this.#carried.set(stat.ino, { ino: stat.ino, from: record.ctimeNs, to: stat.ctimeNs });
  }

  /** Everything that is back. */
  get carried(): readonly CarriedTime[] {
    return [...this.#carried.values()];
  }
}
