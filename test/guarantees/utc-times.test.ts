import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

const ABSOLUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Milliseconds since the epoch, as `date` tells them. */
function clock(): number {
  return Number(execFileSync("date", ["-u", "+%s%3N"], { encoding: "utf8" }));
}

test.for(["Pacific/Kiritimati", "Etc/GMT+12"])(
  "times in refs, results, events, errors and records are absolute in the zone %s (R21)",
  async (zone) => {
    const folder = tempFolder();
    const shop = join(folder, "shop");
    const stateDirectory = join(folder, "state");
    mkdirSync(shop);
    writeFileSync(join(shop, "file"), "base\n");
    const before = clock();
    const program = new URL("programs/live-through.ts", import.meta.url);
    const { code, stdout, stderr } = await runChild(program, [stateDirectory, shop], {
      env: { TZ: zone },
    });
    const after = clock();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const told = JSON.parse(stdout) as string[];
    expect(told.length).toBeGreaterThan(10);

    const records = execFileSync(
      "find",
      [stateDirectory, "-name", "*.json", "-exec", "cat", "{}", "+"],
      {
        encoding: "utf8",
      },
    );
    const stored = [...records.matchAll(/"(?:at|since|\w+At)":"([^"]+)"/g)].map(
      ([, time]) => time ?? "",
    );
    expect(stored.length).toBeGreaterThan(5);
    for (const time of [...told, ...stored]) {
      expect(time).toMatch(ABSOLUTE);
      expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(time)).toBeLessThanOrEqual(after);
    }
  },
);
