import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { makeSandbox } from "./sandbox.ts";

it.each(["kernel", "fuse"] as const)(
  "gives out no directory while something else is mounted in its place, in mode %s, and leaves that alone",
  async (mode) => {
    const root = join(tempFolder(), "real");
    mkdirSync(root);
    runIn(root, "echo real >a");
    await using sandbox = await makeSandbox(root, { mode });
    const { workspace, place } = sandbox;
    const path = displayPath(await workspace.path(place));
    runIn(path, "echo mine >a");
    runIn("/", `umount '${path}'; mount -t tmpfs theirs '${path}'; echo theirs >'${path}/a'`);
    await expect(workspace.path(place)).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "mount", residue: [path] },
    });
    expect(runIn(path, "cat a")).toBe("theirs\n");
    runIn("/", `umount '${path}'`);
    expect(runIn(displayPath(await workspace.path(place)), "cat a")).toBe("mine\n");
  },
);
