import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { renderText } from "../../src/contract/diff-text.ts";
import type { Change, EntryState } from "../../src/index.ts";
import { makePlace, openPlace, shell } from "../faults/place.ts";

/** One side of a change, as a plain file unless said otherwise. */
function side(own: Partial<EntryState> = {}): EntryState {
  const plain = { type: "file", size: 0, mode: 0o644, uid: 0, gid: 0 } as const;
  return { ...plain, hash: null, target: null, mtimeNs: "0", ...own };
}

function change(own: Partial<Change>): Change {
  return { path: "name", kind: "modified", before: side(), after: side(), ...own };
}

/** The text of one change whose two sides have this content. */
function textOf(own: Partial<Change>, before: string | null = null, after: string | null = null) {
  const read = (content: string | null) => () =>
    Promise.resolve(content === null ? null : Buffer.from(content, "latin1"));
  return renderText([change(own)], { readBefore: read(before), readAfter: read(after) });
}

/** The lines between the head and the hunks. */
async function linesOf(own: Partial<Change>): Promise<string[]> {
  const [head, ...lines] = (await textOf(own)).trimEnd().split("\n");
  expect(head).toBe("diff --coffer a/name b/name");
  return lines;
}

describe("the text of a real diff", () => {
  const TREE = `seq 1 40 > numbers; echo old > gone; mkdir sub; echo old > sub/inner; echo old > subject
    printf 'a\\nb\\n\\n' > blank; printf 'a\\r\\nb\\r\\n' > crlf`;
  const EDIT = `sed -i 's/^7$/seven/; s/^33$/thirty-three/' numbers; rm gone; echo new > made
    printf 'no newline' > sub/inner; echo other > subject
    printf 'c\\nb\\n\\n' > blank; printf 'a\\r\\nc\\r\\n' > crlf`;

  it.each([3, 1, 15])(
    "makes the old tree the new one when git applies it, with %s lines around a change",
    async (context) => {
      const place = makePlace(TREE);
      await using coffer = await openPlace(place);
      const ref = await coffer.create("plan", place.real, { strategy: "filesystem_copy" });
      const sandbox = coffer.sandbox(ref);
      shell(await sandbox.getPath(), EDIT);
      const text = await (await sandbox.diff()).text({ context });
      const [old, edited] = [join(place.folder, "old"), join(place.folder, "edited")];
      cpSync(place.real, old, { recursive: true });
      cpSync(await sandbox.getPath(), edited, { recursive: true });
      mkdirSync(join(place.folder, "patches"));
      shell(old, `cat > ../patches/text <<'END'\n${text}END\ngit apply ../patches/text`);
      expect(shell(place.folder, "diff --recursive old edited")).toBe("");
      expect(text.match(/^@@ /gm)).toHaveLength(context === 15 ? 7 : 8);
      await sandbox.cleanup();
    },
  );

  it("names files of any bytes so that git finds them", async () => {
    const names = [
      "b\\377d",
      "with space",
      "quo\\042te",
      "back\\\\\\\\slash",
      "ta\\tb",
      "\\303\\251",
    ];
    const write = (text: string): string =>
      names.map((name) => `echo ${text} > "$(printf '${name}')"`).join("\n");
    const place = makePlace(write("old"));
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy: "filesystem_copy" });
    const sandbox = coffer.sandbox(ref);
    shell(await sandbox.getPath(), write("new"));
    const text = await (await sandbox.diff()).text();
    shell(
      place.real,
      `cat > ../text <<'END'\n${text}END\ngit apply --unsafe-paths ../text; rm ../text`,
    );
    expect(shell(place.real, "cat *")).toBe("new\n".repeat(names.length));
    await sandbox.cleanup({ force: true });
  });

  it("shows only the paths that were asked for, folders with everything in them", async () => {
    const place = makePlace(TREE);
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy: "filesystem_copy" });
    const sandbox = coffer.sandbox(ref);
    shell(await sandbox.getPath(), EDIT);
    const text = await (await sandbox.diff()).text({ paths: ["sub", "made"] });
    expect(text.match(/^diff --coffer .*$/gm)).toEqual([
      "diff --coffer a/made b/made",
      "diff --coffer a/sub/inner b/sub/inner",
    ]);
    await sandbox.cleanup();
  });
});

describe("what is said of a change that is not about lines", () => {
  it("names an added link with what it points to, and a removed folder", async () => {
    const link = side({ type: "symlink", mode: 0o777, target: "over/there" });
    expect(await linesOf({ kind: "added", before: null, after: link })).toEqual([
      "new symlink mode 0777 -> over/there",
    ]);
    const folder = side({ type: "directory", mode: 0o1700 });
    expect(await linesOf({ kind: "deleted", before: folder, after: null })).toEqual([
      "deleted directory mode 1700",
    ]);
  });

  it("names both sides of an entry that became another type", async () => {
    const after = side({ type: "directory", mode: 0o755 });
    expect(await linesOf({ kind: "typeChanged", after })).toEqual([
      "old file mode 0644",
      "new directory mode 0755",
    ]);
  });

  it("names both targets of a link that was bent", async () => {
    const before = side({ type: "symlink", target: "here" });
    const after = { ...before, target: "there" };
    expect(await linesOf({ kind: "linkChanged", before, after })).toEqual([
      "old link here",
      "new link there",
    ]);
  });

  it("names each attribute that differs: mode, owner, extended attributes and time", async () => {
    const kind = "attributesChanged";
    const lines = (after: Partial<EntryState>) => linesOf({ kind, after: side(after) });
    expect(await lines({ mode: 0o4755 })).toEqual(["old mode 0644", "new mode 4755"]);
    expect(await lines({ uid: 7 })).toEqual(["old owner 0:0", "new owner 7:0"]);
    expect(await lines({ gid: 8 })).toEqual(["old owner 0:0", "new owner 0:8"]);
    expect(await lines({ xattrs: { "user.a": "YQ==" } })).toEqual(["extended attributes differ"]);
    expect(await lines({ mtimeNs: "1" })).toEqual(["modification time differs"]);
  });

  it("names where a moved entry was and is, and passes notes on", async () => {
    expect(await linesOf({ renamedFrom: "old", notes: ["linksSplit", "outside"] })).toEqual([
      "renamed from old",
      "note: linksSplit",
      "note: outside",
    ]);
    expect(await linesOf({ renamedTo: "new" })).toEqual(["renamed to new"]);
  });

  it("lets no name, target or note make lines of its own or control a terminal", async () => {
    const evil = "n\n+++ b\n@@ -1 +1 @@\u001b[31m\u009b2J\u202e";
    const shown = String.raw`n\n+++ b\n@@ -1 +1 @@\033[31m\302\2332J\342\200\256`;
    expect(await linesOf({ renamedFrom: evil, renamedTo: evil, notes: [evil] })).toEqual([
      `renamed from "${shown}"`,
      `renamed to "${shown}"`,
      `note: ${shown}`,
    ]);
    const link = side({ type: "symlink", mode: 0o777, target: evil });
    expect(await linesOf({ kind: "added", before: null, after: link })).toEqual([
      `new symlink mode 0777 -> "${shown}"`,
    ]);
    const before = side({ type: "symlink", target: evil });
    const after = { ...before, target: 'say "it"' };
    expect(await linesOf({ kind: "linkChanged", before, after })).toEqual([
      `old link "${shown}"`,
      String.raw`new link "say \"it\""`,
    ]);
    const [head] = (await textOf({ path: evil })).split("\n");
    expect(head).toBe(`diff --coffer "a/${shown}" "b/${shown}"`);
  });
});

describe("content in another encoding", () => {
  it("is shown so that different bytes look different, and is named", async () => {
    const lines = (await textOf({}, "caf\u00e9\n", "caf\u00e8\n")).trimEnd().split("\n");
    expect(lines.slice(1)).toEqual([
      "Content is no UTF-8, and shown as Latin-1",
      ...["--- a/name", "+++ b/name", "@@ -1,1 +1,1 @@", "-café", "+cafè"],
    ]);
  });

  it("is not taken for one where all of it is UTF-8, a mark at its beginning included", async () => {
    const bytes = Buffer.from("\ufeffcafé\n").toString("latin1");
    const text = await textOf({}, bytes, `${bytes}more\n`);
    expect(text).not.toContain("Latin-1");
    expect(text).toContain("\n \ufeffcafé\n+more\n");
  });
});

describe("content that is no text to show", () => {
  it.each([
    ["a zero byte on the old side", "a\0b", "ab"],
    ["a zero byte on the new side", "ab", "a\0b"],
    ["more than four megabytes", "a\n".repeat(1 << 20), "b\n".repeat((1 << 20) + 1)],
  ])("is told by its size: %s", async (_what, before, after) => {
    const lines = (await textOf({}, before, after)).trimEnd().split("\n");
    expect(lines).toEqual([
      "diff --coffer a/name b/name",
      `Binary content differs (${before.length} bytes to ${after.length} bytes)`,
    ]);
  });

  it("is told by its size when more places differ than anybody reads", async () => {
    const lines = (word: string): string =>
      Array.from({ length: 4_000 }, (_, at) => `${word} ${at}\n`).join("");
    const [before, after] = [lines("old"), lines("new")];
    expect((await textOf({}, before, after)).trimEnd().split("\n")).toEqual([
      "diff --coffer a/name b/name",
      `Content differs in too many places (${before.length} bytes to ${after.length} bytes)`,
    ]);
  });
});

it("writes a name with a newline as one line, so that no name forges a line of the diff", async () => {
  const path = 'name\n+++ b/other "quoted"';
  const text = await textOf({ path, kind: "added", before: null }, null, "text\n");
  const name = JSON.stringify(`b/${path}`);
  expect(text.split("\n")).toEqual([
    `diff --coffer ${JSON.stringify(`a/${path}`)} ${name}`,
    "new file mode 0644",
    "--- /dev/null",
    `+++ ${name}`,
    "@@ -0,0 +1,1 @@",
    "+text",
    "",
  ]);
});
