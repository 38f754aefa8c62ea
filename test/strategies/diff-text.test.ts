import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePlace, openPlace } from "../faults/place.ts";

it.each(["overlay", "copy_on_write"])(
  "%s: shows the new text of a file whose old one somebody removed meanwhile (R262)",
  async (strategy) => {
    const place = makePlace("echo old > a");
    await using coffer = await openPlace(place);
    const sandbox = coffer.sandbox(await coffer.create("plan", place.real, { strategy }));
    await sandbox.write("a", "new\n");
    const diff = await sandbox.diff();
    rmSync(join(place.real, "a"));
    const text = await diff.text();
    expect(text).toContain("\n+new\n");
    expect(text).not.toContain("-old");
    await sandbox.cleanup({ force: true });
  },
);
