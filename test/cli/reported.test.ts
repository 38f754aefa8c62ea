import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome, node, program, run } from "./coffer.ts";
import { makeDatabase } from "./database.ts";

const FILES = { "site/a.txt": "a\n", "site/b.txt": "b\n" };
const SITE = "filesystem_copy+dir:./site";

/** A plan `try` over a directory, and its workspace. */
function opened(files: Readonly<Record<string, string>> = FILES): { home: Home; at: string } {
  const home = makeHome(files);
  answerOf(home, ["open", "try", "-r", SITE]);
  const { path } = answerOf(home, ["path", "try"]) as { path: string };
  return { home, at: path };
}

const changed = (home: Home): string =>
  coffer(home, ["diff", "try", "-q", "--name-only"]).stdout.trim();

const inProject = (home: Home, name: string): string =>
  readFileSync(join(home.project, name), "utf8");

test("yielding where nobody else changed anything is refused, and the edit stays", () => {
  const { home, at } = opened();
  appendFileSync(join(at, "a.txt"), "mine\n");
  const done = coffer(home, ["resolve", "try", "a.txt", "--theirs"]);
  expect(done).toMatchObject({ code: 1, stdout: "" });
  expect(done.stderr).toContain("Nobody else changed the same at a.txt: your edits stay");
  expect(done.stderr).toContain("`coffer drop try a.txt` takes them back");
  expect(changed(home)).toBe("a.txt");
});

test("yielding tells the edits that stay because nobody else changed the same", () => {
  const { home, at } = opened();
  for (const name of ["a.txt", "b.txt"]) appendFileSync(join(at, name), "mine\n");
  appendFileSync(join(home.project, "site/a.txt"), "theirs\n");
  const done = coffer(home, ["resolve", "try", ".", "--theirs"]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.stderr).toContain("these edits stay: b.txt.");
  expect(changed(home)).toBe("b.txt");
  answerOf(home, ["commit", "try"]);
  expect(inProject(home, "site/a.txt")).toBe("a\ntheirs\n");
});

test.each([
  ["theirs", "What is there now stays; your edits were taken back: deep/b.txt, deep/c.txt."],
  ["mine", "Your version will be published over what is there now: deep/b.txt, deep/c.txt."],
])("settling a whole folder for --%s names the paths in it", (how, told) => {
  const { home, at } = opened({ "site/deep/b.txt": "b\n", "site/deep/c.txt": "c\n" });
  for (const name of ["deep/b.txt", "deep/c.txt"]) {
    appendFileSync(join(at, name), "mine\n");
    appendFileSync(join(home.project, "site", name), "theirs\n");
  }
  const cwd = join(home.project, "site");
  const { code, stderr } = coffer(home, ["resolve", "try", ".", `--${how}`], { cwd });
  expect(code).toBe(0);
  expect(stderr).toContain(`${told}\n`);
});

test("names that look the same are not mistaken for each other", () => {
  const { home, at } = opened();
  for (const last of [0xe9, 0xea])
    writeFileSync(Buffer.concat([Buffer.from(`${at}/x`), Buffer.from([last])]), "x");
  const done = coffer(home, ["drop", "try", "x\ufffd"]);
  expect(done).toMatchObject({ code: 2, stdout: "" });
  expect(done.stderr).toContain("several changed names look like x\ufffd");
  expect(changed(home).split("\n")).toHaveLength(2);
});

test("a name that cannot be shown as it is can be given as it is shown", () => {
  const { home, at } = opened();
  mkdirSync(join(at, "two\nlines"));
  for (const name of ["two\nlines/a\tb", "two\nlines/c"]) writeFileSync(join(at, name), "x");
  const shown = changed(home).split("\n");
  expect(shown).toEqual(["two\\nlines", "two\\nlines/a\\tb", "two\\nlines/c"]);
  expect(coffer(home, ["diff", "try", shown[1]!, "--name-only"]).stdout).toBe(`${shown[1]}\n`);
  expect(coffer(home, ["drop", "try", shown[1]!])).toMatchObject({ code: 0 });
  expect(changed(home).split("\n")).toEqual([shown[0], shown[2]]);
  // Another name, which really has a backslash in it, comes first.
  writeFileSync(join(at, shown[0]!), "y");
  expect(coffer(home, ["drop", "try", shown[0]!])).toMatchObject({ code: 0 });
  expect(changed(home).split("\n")).toEqual([shown[0], shown[2]]);
  expect(coffer(home, ["drop", "try", shown[0]!])).toMatchObject({ code: 0 });
  expect(changed(home)).toBe("");
});

test("both ends of a rename go back together, also where their names are no text", () => {
  const name = (text: string, last: number): Buffer =>
    Buffer.concat([Buffer.from(text), Buffer.from([last])]);
  const home = makeHome(FILES);
  writeFileSync(name(join(home.project, "site/old"), 0xe9), "the same content, long enough\n");
  answerOf(home, ["open", "try", "-r", SITE]);
  const move = "mv old$(printf '\\351') new$(printf '\\351')";
  const { path } = answerOf(home, ["path", "try"]) as { path: string };
  expect(run(home, "sh", ["-c", move], { cwd: path })).toMatchObject({ code: 0 });
  expect(coffer(home, ["drop", "try", "new\ufffd"])).toMatchObject({ code: 0 });
  expect(changed(home)).toBe("");
});

test("lists what plans take on disk after a command ran in one", () => {
  const home = makeHome();
  answerOf(home, ["open", "try", "-r", "."]);
  expect(coffer(home, ["exec", "try", "--", "sh", "-c", "echo more >> file.txt"]).code).toBe(0);
  expect(answerOf(home, ["clean", "--list"])).toMatchObject([{ planId: "try", state: "open" }]);
});

test("the command for help ends well", () => {
  const home = makeHome();
  expect(coffer(home, ["help"])).toMatchObject({ code: 0, stderr: "" });
  const one = coffer(home, ["help", "commit"]);
  expect(one).toMatchObject({ code: 0, stderr: "" });
  expect(one.stdout).toContain("Usage: coffer commit");
});

test("says in one line that its output cannot be written", () => {
  const home = makeHome();
  const line = `exec "$0" "$1" --help > /dev/full`;
  const done = run(home, "sh", ["-c", line, node, program]);
  expect(done).toMatchObject({ code: 1 });
  expect(done.stderr).toMatch(/^coffer: The output cannot be written: .*ENOSPC.*\n$/);
});

test("works and says nothing where compiled code cannot be kept", () => {
  const home = makeHome();
  mkdirSync(join(home.folder, ".cache"));
  writeFileSync(join(home.folder, ".cache/cofferdam"), "a file");
  const env = { XDG_CACHE_HOME: "" };
  expect(coffer(home, ["list", "-q"], { env })).toMatchObject({ code: 0, stderr: "" });
});

test("the history hints at no plan that is gone", () => {
  const { home, at } = opened();
  appendFileSync(join(at, "a.txt"), "mine\n");
  answerOf(home, ["commit", "try"]);
  expect(coffer(home, ["log"]).stderr).toContain("coffer rollback try --dry-run");
  answerOf(home, ["rollback", "try"]);
  expect(coffer(home, ["log"]).stderr).not.toContain("--dry-run");
  answerOf(home, ["clean", "try"]);
  expect(coffer(home, ["log"]).stderr).not.toContain("--dry-run");
});

test("the history tells the counts of an undo as those that it took back", () => {
  const { home, at } = opened();
  appendFileSync(join(at, "a.txt"), "mine\n");
  writeFileSync(join(at, "new"), "x");
  answerOf(home, ["commit", "try"]);
  answerOf(home, ["rollback", "try"]);
  const [undone, committed] = coffer(home, ["log"])
    .stdout.split("\n")
    .filter((line) => line.startsWith("  site"));
  expect([undone, committed]).toEqual([
    "  site  1 added, 1 changed: taken back",
    "  site  1 added, 1 changed",
  ]);
});

test("an undo that one resource makes impossible names that one", () => {
  const { home, at } = opened();
  makeDatabase(join(home.project, "app.db"));
  answerOf(home, ["clean", "try"]);
  answerOf(home, ["open", "try", "-r", SITE, "-r", "sqlite:./app.db"]);
  expect(existsSync(at)).toBe(false);
  const { path } = answerOf(home, ["path", "try", "site"]) as { path: string };
  appendFileSync(join(path, "a.txt"), "mine\n");
  answerOf(home, ["sql", "try", "app.db", "ALTER TABLE jobs ADD COLUMN done INTEGER"]);
  answerOf(home, ["commit", "try"]);
  const { stderr } = coffer(home, ["rollback", "try"]);
  expect(stderr).toContain("app.db: The commit changed the schema");
  expect(stderr).toContain("with it nothing happened to site");
  expect(stderr).not.toContain("site: ");
  expect(inProject(home, "site/a.txt")).toBe("a\nmine\n");
});

test("a commit of something else than what was reviewed says what to do", () => {
  const { home, at } = opened();
  appendFileSync(join(at, "a.txt"), "mine\n");
  const done = coffer(home, ["commit", "try", "--expect", "0".repeat(64)]);
  expect(done.code).toBe(5);
  expect(done.stderr).toContain("The plan changed after it was reviewed; nothing was published");
  expect(done.stderr).toContain("Look at the diff again");
});

test("a command that is not there is told in the name of coffer", () => {
  const home = makeHome();
  answerOf(home, ["open", "try", "-r", "."]);
  const told = (name: string): [number | null, string] => {
    const { code, stderr } = coffer(home, ["exec", "try", "-q", "--", name]);
    return [code, stderr];
  };
  expect(told("no-such-command")).toEqual([127, "coffer: no-such-command: not found\n"]);
  expect(told("./none")).toEqual([127, "coffer: ./none: not found\n"]);
  expect(told("./file.txt")).toEqual([126, "coffer: ./file.txt: Permission denied\n"]);
  expect(told("/")).toEqual([126, "coffer: /: is a directory\n"]);
});

test("rows are shown in the order of their keys, the ninth before the tenth", () => {
  const home = makeHome();
  makeDatabase(join(home.project, "app.db"));
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db"]);
  const keys = ["2", "9", "10", "12345678901234567890", "a", "a9", "a9b", "a010", "a10b"];
  const rows = keys.toReversed().map((key) => `('${key}', 'new')`);
  const script = `CREATE TABLE parts(key TEXT PRIMARY KEY, name TEXT); INSERT INTO parts VALUES ${rows.join()}`;
  answerOf(home, ["sql", "try", "app.db", script]);
  const { stdout } = coffer(home, ["diff", "-q", "try"]);
  expect([...stdout.matchAll(/^ {2}\+ (\w+) {2}key/gm)].map(([, key]) => key)).toEqual(keys);
});

test("taking a single row back is refused with what works instead", () => {
  const home = makeHome();
  makeDatabase(join(home.project, "app.db"));
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db"]);
  answerOf(home, ["sql", "try", "app.db", "UPDATE jobs SET name = 'two' WHERE id = 1"]);
  const done = coffer(home, ["drop", "try", "main.jobs/1"]);
  expect(done).toMatchObject({ code: 4, stdout: "" });
  expect(done.stderr).toContain("coffer restore try CHECKPOINT");
});
