import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { sweep } from "../support/sweep.ts";
import { tempFolder } from "../support/temp.ts";

function workInThread() {
  const folder = tempFolder();
  const program = new URL("./programs/work-in-thread.ts", import.meta.url);
  return { program, args: [folder], touching: [folder], folder };
}

it("kills a program at each call of its threads and children", async () => {
  const left: string[] = [];
  const points = await sweep({
    prepare: workInThread,
    fault: { signal: "KILL" },
    check: ({ folder }, run) => {
      expect(run.signal).toBe("SIGKILL");
      left.push(readdirSync(folder, { recursive: true }).map(String).toSorted().join(" "));
    },
  });
  expect(points.map(({ call, mainThread }) => [call, mainThread])).toEqual([
    ["mkdir", true],
    ["mkdir", false],
    ["openat", false],
    ["write", false],
    ["rename", false],
    ["mkdir", false],
  ]);
  expect(left).toEqual([
    "",
    "main",
    "main thread",
    "main thread thread/draft",
    "main thread thread/draft",
    "main thread thread/final",
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

it("aims anew, counted from the end, at a call that a shorter run never made", async () => {
  let count = 5;
  const left: string[][] = [];
  const tried = await sweep({
    prepare: () => {
      const folder = tempFolder();
      const program = new URL("./programs/make-folders.ts", import.meta.url);
      const args = [folder, String(count)];
      count = 3;
      return { program, args, touching: [folder], folder };
    },
    fault: { signal: "KILL" },
    choose: (points) => points.slice(-2),
    check: ({ folder }) => {
      left.push(readdirSync(folder));
    },
  });
  expect(tried.map(({ at }) => at)).toEqual([2, 3]);
  expect(left).toEqual([["1"], ["1", "2"]]);
});
