import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import type { Order } from "./order.ts";
import { makePlace, openPlace } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);
const CHANGES =
  /\b(write|pwrite64|writev|rename|renameat|renameat2|unlink|unlinkat|rmdir|mkdir|mkdirat|link|linkat|symlinkat|f?chmod|fchmodat|f?chown|fchownat|utimensat|f?truncate|copy_file_range|f?setxattr|f?removexattr)\(/;

for (const strategy of ["overlay", "copy_on_write"]) {
  it(`${strategy}: everything is on disk before the first change of the resource (R26)`, async () => {
    const place = makePlace("echo a > a.txt; echo b > b.txt; mkdir d; echo c > d/c.txt");
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy });
    const sandbox = coffer.sandbox(ref);
    await sandbox.write("a.txt", "edited\n");
    await sandbox.write("new/n.txt", "new\n");
    await sandbox.remove("d/c.txt");

    const log = join(place.folder, "log");
    const order: Order = { state: place.state, operation: "commit", ref };
    const strace = ["strace", "-f", "-y", "-o", log];
    const run = await runChild(PROGRAM, [JSON.stringify(order)], { wrapper: strace });
    expect(run).toMatchObject({ code: 0 });

    const lines = readFileSync(log, "latin1").split("\n");
    const first = lines.findIndex((line) => CHANGES.test(line) && line.includes(place.real));
    const firstInside = lines.findIndex(
      (line) => CHANGES.test(line) && new RegExp(`<${place.real}(/[^>]*)?>`).test(line),
    );
    expect(first).toBe(firstInside);
    const synced = lines.findIndex((line) => /\bsyncfs\(\d+<.*\/tx-/.test(line));
    const decided = lines.findIndex((line) => /\blink(at)?\(.*\/decision"/.test(line));
    const durable = lines.findIndex(
      (line, at) => at > decided && /\bfsync\(\d+<.*\/state\/tx\//.test(line),
    );
    expect([synced, decided, durable, firstInside]).toEqual(
      [synced, decided, durable, firstInside].toSorted((a, b) => a - b),
    );
    expect(synced).toBeGreaterThan(0);
    // Nothing is staged any more after the sync: what is published is what was made durable.
    const late = lines
      .slice(synced + 1, firstInside)
      .filter((line) => CHANGES.test(line) && line.includes("/entries"));
    expect(late).toEqual([]);
    await sandbox.cleanup();
  });
}
