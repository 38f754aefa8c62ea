import { SandboxConflictError, SandboxPathError, SandboxRollbackError } from "cofferdam";
import { describe, expect, it } from "vitest";
import { useServer } from "./server.ts";
import { Site, textIn } from "./site.ts";

const served = useServer();

describe("a sandbox of a bucket", () => {
  it("reads what others put there, until the sandbox has a version of its own", async () => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("docs/guide.md", "mine\n");
    await served().buckets.put(site.bucket, "a.txt", "theirs\n");
    await served().buckets.put(site.bucket, "docs/guide.md", "theirs\n");
    expect(await textIn(sandbox, "a.txt")).toBe("theirs\n");
    expect(await textIn(sandbox, "docs/guide.md")).toBe("mine\n");
  });

  it("keeps media type, caching, metadata and tags of what it changes", async () => {
    const site = await Site.make(served(), {});
    const { buckets } = served();
    const properties = { ContentType: "text/x-own", CacheControl: "max-age=7" };
    const more = { ...properties, Metadata: { owner: "me" }, Tagging: "kind=page" };
    await buckets.put(site.bucket, "page", "old\n", more);
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("page", "new\n");
    await sandbox.rename("page", "moved/page");
    await sandbox.commit();
    expect(await site.texts()).toEqual({ "moved/page": "new\n" });
    expect(await buckets.properties(site.bucket, "moved/page")).toMatchObject({
      ...properties,
      Metadata: { owner: "me" },
      TagSet: [{ Key: "kind", Value: "page" }],
    });
  });

  it("gives new objects the media type of their ending", async () => {
    const site = await Site.make(served(), {});
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("index.html", "<p>\n");
    await sandbox.commit();
    const { ContentType } = await served().buckets.properties(site.bucket, "index.html");
    expect(ContentType).toBe("text/html");
  });

  it("is about the keys below its prefix alone", async () => {
    const site = await Site.make(served(), { "one/a": "1\n", "one/b/c": "2\n", onesie: "3\n" });
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam, "plan", "one/");
    expect(await sandbox.list("")).toEqual([
      { name: "a", type: "file" },
      { name: "b", type: "directory" },
    ]);
    await sandbox.write("d", "4\n");
    await sandbox.remove("b");
    await sandbox.commit();
    expect(await site.texts()).toEqual({ "one/a": "1\n", "one/d": "4\n", onesie: "3\n" });
  });

  it("knows names with spaces, signs and letters of any script", async () => {
    const names = ["with space", "a+b&c=d", "50%", "größe.txt", "日本/語", "it's", "#x?y"];
    const site = await Site.make(served(), { "größe/alt": "old\n" });
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    for (const name of names) await sandbox.write(name, `${name}\n`);
    await sandbox.commit();
    const expected = Object.fromEntries(names.map((name) => [name, `${name}\n`]));
    expect(await site.texts()).toEqual({ ...expected, "größe/alt": "old\n" });
    await sandbox.rollback();
    expect(await site.texts()).toEqual({ "größe/alt": "old\n" });
  });

  it("publishes an object of several parts, and one of no bytes", async () => {
    const site = await Site.make(served(), {});
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    const large = Buffer.alloc(70 * 1024 ** 2, "0123456789abcdef");
    await sandbox.write("large", large);
    await sandbox.write("empty", "");
    await sandbox.commit();
    const { buckets } = served();
    expect((await buckets.bytes(site.bucket, "large")).equals(large)).toBe(true);
    expect(await buckets.read(site.bucket, "empty")).toBe("");
  });

  it("leaves keys alone that no path can name", async () => {
    const odd = { "x//y": "1\n", "x/../z": "2\n", "/lead": "3\n", "x/plain": "4\n" };
    const site = await Site.make(served(), odd);
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    expect(await sandbox.list("")).toEqual([{ name: "x", type: "directory" }]);
    expect(await sandbox.list("x")).toEqual([{ name: "plain", type: "file" }]);
    await sandbox.write("x/plain", "new\n");
    await sandbox.commit();
    expect(await site.texts()).toEqual({ ...odd, "x/plain": "new\n" });
  });

  it("refuses keys that are longer than a server takes, and bytes that are no text", async () => {
    const site = await Site.make(served(), {});
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    const long = Array.from({ length: 6 }, () => "x".repeat(200)).join("/");
    const reasonOf = (path: string | Uint8Array): Promise<unknown> =>
      sandbox.write(path, "x").catch((error: unknown) => (error as SandboxPathError).data.reason);
    expect(await reasonOf(long)).toBe("tooLong");
    expect(await reasonOf(Uint8Array.of(0x78, 0xff))).toBe("unwritable");
  });

  it("shows a folder as long as something is left in it", async () => {
    const site = await Site.make(served(), { "docs/one": "1\n", "docs/two": "2\n", top: "3\n" });
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.remove("docs/one");
    expect((await sandbox.list("")).map(({ name }) => name)).toEqual(["docs", "top"]);
    await sandbox.remove("docs/two");
    expect((await sandbox.list("")).map(({ name }) => name)).toEqual(["top"]);
    await expect(sandbox.list("docs")).rejects.toBeInstanceOf(SandboxPathError);
  });
});

describe("a commit to a bucket", () => {
  it("makes one version of each edited key, and an undo leaves the history as it was", async () => {
    const site = await Site.make(served());
    const { buckets } = served();
    const before = await buckets.history(site.bucket);
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "new\n");
    await sandbox.write("b.txt", "added\n");
    await sandbox.remove("docs/guide.md");
    const result = await sandbox.commit({ message: "all kinds" });
    expect(result).toMatchObject({
      added: ["b.txt"],
      changed: ["a.txt"],
      deleted: ["docs/guide.md"],
      message: "all kinds",
      warnings: [],
    });
    expect(await site.texts()).toEqual({ "a.txt": "new\n", "b.txt": "added\n" });
    expect(await buckets.history(site.bucket)).toHaveLength(before.length + 3);
    expect(await buckets.uploads(site.bucket)).toEqual([]);
    await sandbox.rollback();
    expect(await buckets.history(site.bucket)).toEqual(before);
  });

  it("is refused by version: also where others wrote the same bytes again", async () => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "mine\n");
    await sandbox.write("docs/other.md", "mine\n");
    await served().buckets.put(site.bucket, "a.txt", "alpha\n");
    await served().buckets.put(site.bucket, "docs/other.md", "theirs\n");
    const before = await served().buckets.history(site.bucket);
    const committing = sandbox.commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(committing).rejects.toMatchObject({
      data: {
        originalRestored: true,
        conflicts: [
          { path: "a.txt", reason: "changed" },
          { path: "docs/other.md", reason: "exists" },
        ],
      },
    });
    expect(await served().buckets.history(site.bucket)).toEqual(before);
    expect(await served().buckets.uploads(site.bucket)).toEqual([]);
  });

  it("can be made after each conflict is settled, for one side or the other", async () => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "mine\n");
    await sandbox.remove("docs/guide.md");
    for (const key of ["a.txt", "docs/guide.md"])
      await served().buckets.put(site.bucket, key, "theirs\n");
    const merging = sandbox.resolve(["a.txt"], "merge");
    await expect(merging).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(merging).rejects.toMatchObject({ data: { reason: "notMerged" } });
    await sandbox.resolve(["a.txt"], "mine");
    await sandbox.resolve(["docs"], "theirs");
    await sandbox.commit();
    expect(await site.texts()).toEqual({ "a.txt": "mine\n", "docs/guide.md": "theirs\n" });
  });

  it("leaves out what was dropped", async () => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "dropped\n");
    await sandbox.write("docs/guide.md", "kept\n");
    await sandbox.drop(["a.txt"]);
    await expect(sandbox.drop(["a.txt"])).rejects.toMatchObject({ data: { reason: "unchanged" } });
    expect(await textIn(sandbox, "a.txt")).toBe("alpha\n");
    await sandbox.commit();
    expect(await site.texts()).toEqual({ "a.txt": "alpha\n", "docs/guide.md": "kept\n" });
  });

  it("stays when the version before it is gone for ever", async () => {
    const site = await Site.make(served());
    const { buckets } = served();
    const [before] = await buckets.history(site.bucket, "a.txt");
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "new\n");
    await sandbox.commit();
    await buckets.removeVersion(site.bucket, "a.txt", before?.versionId ?? "");
    const undoing = sandbox.rollback();
    await expect(undoing).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(undoing).rejects.toMatchObject({
      data: { reason: "undoDataMissing", paths: ["a.txt"] },
    });
    expect(await buckets.read(site.bucket, "a.txt")).toBe("new\n");
  });
});
