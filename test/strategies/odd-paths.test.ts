import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Cofferdam, Resource, Sandbox } from "../../src/index.ts";
import { makePlace, openPlace, shell } from "../faults/place.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";

const TREE = "echo a > a; mkdir -p d/inner; echo b > d/b; mkfifo pipe; ln -s a link";

/** One call with arguments that it has to refuse, and the reason that the error gives. */
const REFUSED: readonly (readonly [reason: string, (sandbox: Sandbox) => Promise<unknown>])[] = [
  ["directory", (sandbox) => sandbox.write("", "text")],
  ["directory", (sandbox) => sandbox.write(".", "text")],
  ["directory", (sandbox) => sandbox.write("d", "text")],
  ["directory", (sandbox) => sandbox.read("d")],
  ["directory", (sandbox) => sandbox.read("")],
  ["notDirectory", (sandbox) => sandbox.write("a/b", "text")],
  ["notDirectory", (sandbox) => sandbox.list("a")],
  ["missing", (sandbox) => sandbox.list("none")],
  ["missing", (sandbox) => sandbox.remove("none")],
  ["outside", (sandbox) => sandbox.remove("")],
  ["outside", (sandbox) => sandbox.rename("", "root")],
  ["outside", (sandbox) => sandbox.rename("a", "")],
  ["missing", (sandbox) => sandbox.rename("none", "new")],
  ["exists", (sandbox) => sandbox.rename("a", "d")],
  ["notDirectory", (sandbox) => sandbox.rename("d", "d/inner/made/d")],
];

describe.each(["overlay", "copy_on_write", "filesystem_copy"])("%s", (strategy) => {
  it.each(["before its directory was asked for", "while programs may work in it"])(
    "refuses calls that make no sense, and nothing changes, %s (R5, R6)",
    async (when) => {
      const place = makePlace(TREE);
      const before = takeOracle(place.real);
      await using coffer = await openPlace(place);
      const ref = await coffer.create("plan", place.real, { strategy });
      const sandbox = coffer.sandbox(ref);
      if (when.startsWith("while")) await sandbox.getPath();
      for (const [at, [reason, call]] of REFUSED.entries()) {
        await expect(call(sandbox), `call ${at}`).rejects.toMatchObject({
          code: "SANDBOX_PATH",
          data: { reason },
        });
      }
      expect((await sandbox.diff()).changes).toEqual([]);
      expectOracleEqual(before, takeOracle(place.real));
      await sandbox.cleanup();
    },
  );

  it("refuses to read and to replace a FIFO that a program made, without waiting (R5, R6)", async () => {
    const place = makePlace(TREE);
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy });
    const sandbox = coffer.sandbox(ref);
    shell(await sandbox.getPath(), "mkfifo mine");
    for (const call of [() => sandbox.read("mine"), () => sandbox.write("mine", "text")]) {
      await expect(call()).rejects.toMatchObject({
        code: "SANDBOX_PATH",
        data: { reason: "special" },
      });
    }
    await sandbox.cleanup();
  });

  it("lists names that are no text with their bytes, and takes them by their bytes", async () => {
    const place = makePlace("printf x > $(printf 'latin-\\351')");
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy });
    const sandbox = coffer.sandbox(ref);
    const [entry] = await sandbox.list("");
    const bytes = Buffer.from("latin-\xe9", "latin1");
    expect(entry).toMatchObject({ nameBytes: bytes.toString("hex"), type: "file" });
    expect(Buffer.from(await sandbox.read(bytes)).toString()).toBe("x");
    await sandbox.write(bytes, "y");
    const { changes } = await sandbox.diff();
    expect(changes).toMatchObject([{ kind: "modified", pathBytes: bytes.toString("hex") }]);
    await sandbox.commit();
    expect(shell(place.real, "cat *")).toBe("y");
    await sandbox.cleanup();
  });

  it("knows a single file by its own name and by no other", async () => {
    const place = makePlace(TREE);
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", fileIn(place.real), { strategy });
    const sandbox = coffer.sandbox(ref);
    expect(await sandbox.list("")).toEqual([{ name: "a", type: "file" }]);
    expect(Buffer.from(await sandbox.read("")).toString()).toBe("a\n");
    for (const call of [
      () => sandbox.read("link"),
      () => sandbox.write("b", "text"),
      () => sandbox.rename("a", "b"),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: "SANDBOX_PATH",
        data: { reason: "outside" },
      });
    }
    await sandbox.write("a", "new\n");
    await sandbox.commit();
    expect(shell(place.real, "cat a")).toBe("new\n");
    await sandbox.cleanup();
  });

  it.each([
    ["a directory as a file", "fs-file", "d"],
    ["a FIFO as a file", "fs-file", "pipe"],
    ["a file as a directory", "fs-directory", "a"],
    ["a link as a directory", "fs-directory", "link"],
    ["an ordinary directory as a mount", "fs-mount", "d"],
  ])("refuses to take %s, and keeps nothing of it", async (_what, type, name) => {
    const place = makePlace(TREE);
    await using coffer = await openPlace(place);
    const resource: Resource = { resourceId: "it", type, location: join(place.real, name) };
    await expect(coffer.create("plan", resource, { strategy })).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
    });
    expect(await listed(coffer)).toEqual([]);
  });
});

function fileIn(folder: string): Resource {
  return { resourceId: "file", type: "fs-file", location: join(folder, "a") };
}

async function listed(coffer: Cofferdam): Promise<unknown[]> {
  return [...(await coffer.list())];
}
