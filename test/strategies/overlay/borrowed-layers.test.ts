import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type BytePath, displayPath, joinPath, toBytePath } from "../../../src/model/byte-path.ts";
import { borrowLayers, giveBack } from "../../../src/strategies/overlay/borrowed-layers.ts";
import { OverlayWorkspace } from "../../../src/strategies/overlay/workspace.ts";
import type { OpenPlace } from "../../../src/tree/workspace.ts";
import { tempFolder } from "../../support/temp.ts";
import { makePlace } from "./sandbox.ts";

interface Pair {
  readonly lender: OpenPlace;
  readonly borrower: OpenPlace;
}

/** The folders of a sandbox and of another that uses a layer of it. */
async function makePair(area: BytePath): Promise<Pair> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  const [lender, borrower] = ["lender", "borrower"].map((name) => {
    const directory = joinPath(area, toBytePath(name));
    mkdirSync(Buffer.from(directory, "latin1"), { recursive: true });
    return { ...makePlace(root), directory };
  }) as [OpenPlace, OpenPlace];
  await borrowLayers(lender, ["1"], borrower);
  return { lender, borrower };
}

it.each(["area", "\xff\xfe"])(
  "gives layers back to a sandbox that is gone already, in an area named %j (R262)",
  async (name) => {
    const { lender, borrower } = await makePair(
      joinPath(toBytePath(tempFolder()), name as BytePath),
    );
    rmSync(Buffer.from(lender.directory, "latin1"), { recursive: true });
    expect(await giveBack(borrower.directory)).toEqual([]);
    expect(await new OverlayWorkspace({ emit: () => undefined }).destroy(borrower)).toEqual([]);
    expect(readdirSync(Buffer.from(borrower.directory, "latin1"))).toEqual([]);
  },
);

it("removes nothing of a sandbox whose borrowed layers cannot be given back, and all of it later (R262)", async () => {
  const { lender, borrower } = await makePair(toBytePath(tempFolder()));
  const [from, path] = [displayPath(lender.directory), displayPath(borrower.directory)];
  rmSync(from, { recursive: true });
  writeFileSync(from, "in the way");
  const workspace = new OverlayWorkspace({ emit: () => undefined });
  expect(await workspace.destroy(borrower)).toEqual([path]);
  expect(existsSync(join(path, "lenders.json"))).toBe(true);
  rmSync(from);
  expect(await workspace.destroy(borrower)).toEqual([]);
  expect(readdirSync(path)).toEqual([]);
});

it("has nothing to remove where no sandbox is (R262)", async () => {
  const { borrower } = await makePair(toBytePath(tempFolder()));
  rmSync(displayPath(borrower.directory), { recursive: true });
  expect(await new OverlayWorkspace({ emit: () => undefined }).destroy(borrower)).toEqual([]);
});
