import { lstatSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sweep } from "../support/sweep.ts";
import { tempFolder } from "../support/temp.ts";

const NAMES = ["main", "thread", "thread/draft", "thread/final"];

function workInThread() {
  const folder = tempFolder();
  const program = new URL("./programs/work-in-thread.ts", import.meta.url);
  return { program, args: [folder], touching: [folder], waitsForGo: true };
}

it("kills a program at each call of each of its threads", async () => {
  const left: string[][] = [];
  const points = await sweep({
    prepare: workInThread,
    fault: { signal: "KILL" },
    check: ({ touching }, run) => {
      expect(run.signal).toBe("SIGKILL");
      left.push(
        NAMES.filter((name) => lstatSync(join(touching[0] ?? "", name), { throwIfNoEntry: false })),
      );
    },
  });
  expect(points.map(({ call, mainThread }) => [call, mainThread])).toEqual([
    ["symlink", true],
    ["mkdir", false],
    ["openat", false],
    ["write", false],
    ["rename", false],
  ]);
  expect(left).toEqual([
    [],
    ["main"],
    ["main", "thread"],
    ["main", "thread", "thread/draft"],
    ["main", "thread", "thread/draft"],
  ]);
});

it("stops when the check does not like what is left", async () => {
  const disliked = new Error("half done");
  const swept = sweep({
    prepare: workInThread,
    fault: { error: "EIO" },
    choose: (points) => points.slice(0, 1),
    check: () => {
      throw disliked;
    },
  });
  await expect(swept).rejects.toBe(disliked);
});
