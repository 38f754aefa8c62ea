import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { runChild } from "../../support/child.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import type { Command } from "./programs/scenario.ts";
import { at, makeSandbox } from "./sandbox.ts";

const scenario = new URL("./programs/scenario.ts", import.meta.url);

function makeTree(folders: number): string {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(
    root,
    `for i in $(seq ${folders}); do mkdir d$i; cd d$i; seq 100 | xargs touch; cd ..; done`,
  );
  return root;
}

/** System calls of a whole life that name something in the real tree, made by the process and all its children. */
async function callsInTree(folders: number): Promise<number> {
  const root = makeTree(folders);
  // More than an ordinary user's sandbox looks at before it is made.
  runIn(root, "seq -f n%g 600 | xargs touch");
  const log = join(tempFolder(), "log");
  const strace = [
    "strace",
    "-f",
    "-y",
    "-qq",
    "-o",
    log,
    "-e",
    "trace=getdents64,openat,openat2,statx",
  ];
  const edits = ["d1/1", "d1/2", "d2/3", "d3/new", "new"];
  const commands: Command[] = [
    ...edits.map((path) => ({ call: "write", path, text: "edit\n" }) as const),
    { call: "changes" },
    { call: "checkpoint", id: "one" },
    { call: "changes" },
    { call: "restore", id: "one" },
    { call: "destroy" },
  ];
  const { stdout } = await runChild(scenario, [root], {
    wrapper: strace,
    input: commands.map((command) => JSON.stringify(command)).join("\n"),
  });
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect(answers).toHaveLength(commands.length + 1);
  expect(answers[6]).toHaveLength(edits.length);
  const lines = readFileSync(log, "utf8").split("\n");
  const inTree = lines.filter((line) => line.includes(`${root}>`) || line.includes(`${root}/`));
  const read = inTree.filter((line) => line.includes("getdents64("));
  expect(read.filter((line) => !line.includes(`${root}>`))).toEqual([]);
  expect(read).toHaveLength(process.getuid?.() === 0 ? 0 : 1);
  return inTree.length;
}

it("costs the same in a small and in a large tree: nothing of it is walked (R245)", async () => {
  const [small, large] = [await callsInTree(4), await callsInTree(40)];
  expect(small).toBeGreaterThan(0);
  // Names of temp folders differ, the number of calls does not.
  expect(large).toBe(small);
});

it("stores for a checkpoint only what changed since the last one (R208)", async () => {
  const root = makeTree(100);
  await using sandbox = await makeSandbox(root);
  const { workspace, place } = sandbox;
  const used = (): number => Number(runIn(displayPath(place.directory), "du -sk . | cut -f1"));
  const content = Buffer.alloc(40_000, "x");
  for (const name of ["1", "2", "3", "4", "5"])
    await workspace.write(place, at(`d${name}/1`), content);
  await workspace.checkpoint(place, "five edits");
  const first = used();
  expect(first).toBeLessThan(5 * 60 + 200);
  await workspace.write(place, at("d6/1"), content);
  await workspace.checkpoint(place, "one more");
  expect(used() - first).toBeLessThan(60 + 50);
});
