import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { mountsBelow } from "../support/leftovers.ts";
import { tempFolder } from "../support/temp.ts";

const folder = fileURLToPath(new URL("../limits/", import.meta.url));

describe("every limit", () => {
  it.each(readdirSync(folder))("is shown by the plain tools in %s", (name) => {
    const script = join(folder, name);
    expect(readFileSync(script, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(10);
    const here = tempFolder({ mode: 0o755 });
    const done = spawnSync("sh", ["-e", script], { cwd: here, encoding: "utf8" });
    expect({ status: done.status, stderr: done.status === 0 ? "" : done.stderr }).toEqual({
      status: 0,
      stderr: "",
    });
    expect(mountsBelow(here)).toEqual([]);
  });
});
