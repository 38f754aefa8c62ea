import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { type TracedProgram, faultPoints, runWithFault } from "../../support/faults.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";

const program = new URL("./programs/one-call.ts", import.meta.url);

interface Prepared extends TracedProgram {
  readonly sandbox: TestSandbox;
}

async function prepare(call: string): Promise<Prepared> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir -p d/e; echo b >d/b; echo c >d/e/c");
  const sandbox = await makeSandbox(root);
  const { workspace, place } = sandbox;
  await workspace.write(place, at("d/b"), Buffer.from("newer\n"));
  return { sandbox, program, args: [root, call], touching: [displayPath(place.directory)] };
}

const EDITS = {
  write: { entry: "d/e/c", content: "written\n", changes: ["d/b", "d/e/c"] },
  renameFile: { entry: "n/moved", content: "newer\n", changes: ["d/b", "n", "n/moved"] },
} as const;

it.each([
  { call: "write", lacks: "openat", below: "/d/e", error: "ENOTSUP", what: "files without a name" },
  { call: "renameFile", lacks: "renameat2", below: "/d/b", error: "EINVAL", what: "whiteouts" },
] as const)(
  "edits a layer on a file system whose kernel does not make $what by itself (R262)",
  async ({ call, lacks, below, error }) => {
    const undisturbed = await prepare(call);
    const points = await faultPoints(undisturbed);
    const point = points.find(
      ({ call: made, paths: [path] }) => made === lacks && path?.endsWith(below) === true,
    );
    await undisturbed.sandbox[Symbol.asyncDispose]();
    const prepared = await prepare(call);
    await using sandbox = prepared.sandbox;
    const { workspace, place, root } = sandbox;
    const run = await runWithFault(prepared, { at: point?.at ?? 0 }, { error });
    expect(run).toMatchObject({ fired: true, code: 0, stderr: "" });
    const { entry, content, changes } = EDITS[call];
    expect((await workspace.read(place, at(entry))).toString()).toBe(content);
    const listed = (await workspace.changes(place)).changes.filter(
      ({ implied }) => implied !== true,
    );
    expect(listed.map(({ path }) => path)).toEqual(changes);
    expect(runIn(displayPath(place.directory), "ls t")).toBe("");
    expect(runIn(root, "cat d/b d/e/c")).toBe("b\nc\n");
  },
);
