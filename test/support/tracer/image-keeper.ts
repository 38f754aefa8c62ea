import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KeepOrder } from "./order.ts";

/** Keeps what is on disks at a moment, which is what a loss of power at that moment would leave. */
export class ImageKeeper {
  readonly #order: KeepOrder;
  #written: string | null = null;
  /** How many copies there are. */
  count = 0;

  constructor(order: KeepOrder) {
    this.#order = order;
  }

  /** Copies the images, unless nothing was written since the last time. Gives the number of the copies that show them. */
  keep(): number {
    const { images, counters, into, flushing } = this.#order;
    if (flushing !== undefined) execFileSync("sync", ["-f", flushing]);
    const written = counters.map(writesOf).join(" ");
    if (written !== this.#written) {
      images.forEach((image, at) => {
        execFileSync("cp", ["--reflink=always", image, join(into, `${this.count}-${at}`)]);
      });
      this.#written = written;
      this.count += 1;
    }
    return this.count - 1;
  }
}

/** Writes, discards and flushes that the device has done. */
function writesOf(counter: string): string {
  const fields = readFileSync(counter, "utf8").trim().split(/\s+/);
  return [4, 6, 11, 15].map((at) => fields[at]).join(":");
}
