import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NoneStrategy } from "../dist/index.js";
import { openBench } from "./sandbox.mjs";

const LOOKUPS = 200_000;

/** Microseconds for finding a strategy by name, built-in and custom, with 1, 100 and 1,000 registered. */
export async function measureResolution() {
  const folder = mkdtempSync(join(tmpdir(), "cofferdam-bench-"));
  try {
    const coffer = await openBench(join(folder, "state"));
    const rows = [];
    let registered = 0;
    for (const count of [1, 100, 1000]) {
      for (; registered < count; registered++) {
        await coffer.registry.register(`custom_${registered}`, NoneStrategy);
      }
      await coffer.registry.resolve("overlay");
      for (const name of ["overlay", `custom_${count - 1}`]) {
        await coffer.registry.resolve(name);
        const start = performance.now();
        for (let n = 0; n < LOOKUPS; n++) coffer.registry.get(name);
        const microseconds = ((performance.now() - start) * 1000) / LOOKUPS;
        rows.push({
          registered: count,
          name,
          microseconds: Math.round(microseconds * 1000) / 1000,
        });
      }
    }
    await coffer.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
