import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { answerOf } from "./answers.ts";
import { coffer, type Home, makeHome, run } from "./coffer.ts";
import { onTerminal } from "./terminal.ts";

const ESCAPE = "\u001b";
const EVIL = `evil${ESCAPE}[2Jname`;

/** Opens the plan `try` over the project's folder `site`, and gives the workspace to the edits. */
async function edited(home: Home, edit: (workspace: string) => void): Promise<void> {
  const { stateDirectory } = home;
  await using cofferdam = await openCofferdam({ stateDirectory, config: false });
  const site = { id: "site", type: "fs-directory", location: join(home.project, "site") };
  const plan = await cofferdam.plan("try", [{ ...site, sandboxStrategy: "filesystem_copy" }]);
  edit(await plan.sandbox("site").getPath());
}

const FILES = {
  "site/gone.txt": "gone\n",
  "site/text.txt": "one\ntwo\nthree\n",
  "site/run.sh": "#!/bin/sh\n",
  "site/kind": "a file\n",
  "site/deep/er/still.txt": "still\n",
  "site/moved.txt": "some content that moves as a whole\n",
  "site/tagged.txt": "tagged\n",
};

function everyKind(workspace: string): void {
  const at = (name: string): string => join(workspace, name);
  writeFileSync(at("added.txt"), "added\n");
  writeFileSync(at("text.txt"), "one\n2\nthree\n");
  writeFileSync(at("deep/er/binary"), Buffer.from([1, 0, 2]));
  writeFileSync(at(EVIL), "");
  mkdirSync(at("empty"));
  symlinkSync("text.txt", at("link"));
  linkSync(at("moved.txt"), at("renamed.txt"));
  rmSync(at("moved.txt"));
  rmSync(at("gone.txt"));
  chmodSync(at("run.sh"), 0o755);
  rmSync(at("kind"));
  mkdirSync(at("kind"));
}

test("shows and counts every kind of change, what moved as one, and lets no name draw on the screen", async () => {
  const home = makeHome(FILES);
  await edited(home, (workspace) => {
    everyKind(workspace);
    const named = ["-n", "user.note", "-v", "mine", join(workspace, "tagged.txt")];
    expect(run(home, "setfattr", named).code).toBe(0);
  });
  const { code, stdout } = coffer(home, ["diff", "try"]);
  expect(code).toBe(0);
  const [overview = "", ...rest] = stdout.split("\n\n");
  expect(overview.split("\n")).toEqual([
    "site: 5 added, 1 modified, 1 deleted, 1 renamed, 1 of another type, 1 with another mode, " +
      "1 with other attributes; 56 B to publish",
    "  + added.txt  6 B",
    "  + deep/er/binary  3 B",
    "  + empty/  folder",
    "  + evil\\x1b[2Jname  0 B",
    "  + link  link to text.txt",
    "  ~ text.txt  -2 B",
    "  - gone.txt  5 B",
    "  > moved.txt → renamed.txt  35 B",
    "  ! kind/  file → directory",
    "  m run.sh  mode 0644 → 0755",
    "  a tagged.txt  xattr +user.note",
  ]);
  const patch = rest.join("\n\n");
  expect(patch).toContain("-two\n+2\n");
  expect(patch).toContain("Binary content differs (0 bytes to 3 bytes)");
  expect(patch).toContain("new directory mode");
  expect(patch).toContain("extended attributes differ");
  expect(stdout).not.toContain(ESCAPE);

  const tree = coffer(home, ["diff", "try", "--stat"]).stdout.split("\n");
  expect(tree[0]).toMatch(/^site {2}5 added, /);
  expect(tree.slice(1, 3)).toEqual(["├── deep/er/", "│   └── + binary  3 B"]);
  expect(tree).toContain("├── > renamed.txt  from moved.txt, 35 B");
  const names = coffer(home, ["diff", "try", "--name-only"]).stdout.trimEnd().split("\n");
  expect(names).toHaveLength(12);
  expect(names).toContain("evil\\x1b[2Jname");
});

test("shows only the paths that are asked for, below the resource or below the working directory", async () => {
  const home = makeHome(FILES);
  await edited(home, everyKind);
  for (const paths of [["site", "deep"], ["deep/er/"], ["./site/deep"]]) {
    const { stdout } = coffer(home, ["diff", "try", ...paths, "--name-only"]);
    expect({ paths, stdout }).toEqual({ paths, stdout: "deep/er/binary\n" });
  }
  const both = answerOf(home, ["diff", "try", "site", "added.txt", "gone.txt"]);
  expect(both).toMatchObject({
    sandboxes: [
      {
        changes: [{ kind: "added" }, { kind: "deleted" }],
        summary: { counts: { added: 1, deleted: 1 }, bytes: 6 },
      },
    ],
  });
  expect(coffer(home, ["diff", "try", "site", "added.txt"]).stdout).toMatch(
    /^site: 1 added; 6 B to publish\n/,
  );
  const none = coffer(home, ["diff", "try", "other"]);
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toContain("Nothing is changed at other.\n");
  expect(coffer(home, ["diff", "try", "--stat", "--patch"])).toMatchObject({ code: 2, stdout: "" });
});

test("shows what people write before what git and package managers keep for themselves", async () => {
  const home = makeHome({ "site/file.txt": "old\n" });
  await edited(home, (workspace) => {
    for (const folder of [".git", "node_modules/left-pad", "src"])
      mkdirSync(join(workspace, folder), { recursive: true });
    for (const name of [".git/HEAD", "node_modules/left-pad/index.js", "src/main.js"])
      writeFileSync(join(workspace, name), "new\n");
  });
  const names = coffer(home, ["diff", "try"]).stdout.match(/^ {2}\+ \S+/gm);
  expect(names?.map((line) => line.slice(4))).toEqual([
    "src/",
    "src/main.js",
    ".git/",
    ".git/HEAD",
    "node_modules/",
    "node_modules/left-pad/",
    "node_modules/left-pad/index.js",
  ]);
});

test("stays readable with thousands of files and hides nothing: counts by kind, and all on request", async () => {
  const home = makeHome(
    Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`site/old/${at}.txt`, `${at}\n`] as const),
    ),
  );
  await edited(home, (workspace) => {
    mkdirSync(join(workspace, "new"));
    for (let at = 0; at < 2_500; at++) writeFileSync(join(workspace, `new/${at}`), `${at}\n`);
    for (let at = 0; at < 500; at++)
      writeFileSync(join(workspace, `old/${at}.txt`), `changed ${at}\n`);
  });
  const { stdout, stderr } = coffer(home, ["diff", "try"]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(22);
  expect(lines[0]).toMatch(/^site: 2,501 added, 500 modified; /);
  expect(lines.at(-1)).toBe("  and 2,981 more: 2,491 added, 490 modified");
  expect(stderr).toContain("coffer diff try --patch");
  const tree = coffer(home, ["diff", "try", "--stat", "-q"]).stdout.trimEnd().split("\n");
  expect(tree).toHaveLength(29);
  // A new folder with something in it stands once.
  expect(tree[1]).toBe("├── + new/  folder");
  expect(tree).toContain("│   └── and 2,488 more: 2,488 added");
  const names = coffer(home, ["diff", "try", "--name-only", "-q"]).stdout.trimEnd().split("\n");
  expect(names).toHaveLength(3_001);
  const patch = coffer(home, ["diff", "try", "--patch", "-q"]).stdout;
  expect(patch.match(/^diff --coffer /gm)).toHaveLength(3_001);
});

test("goes through the pager on a terminal only, in colours, and fits into 40 columns", async () => {
  const home = makeHome({ [`site/${"long/".repeat(12)}a-rather-long-name.txt`]: "old\n" });
  await edited(home, (workspace) => {
    writeFileSync(join(workspace, "long/".repeat(12), "a-rather-long-name.txt"), "new\n");
    writeFileSync(join(workspace, "short.txt"), "new\n");
  });
  const env = { PAGER: "sed 's/^/paged: /'" };
  const shown = onTerminal(home, ["diff", "try", "-q"], { env });
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain(`paged: ${ESCAPE}[32m+new${ESCAPE}[39m\n`);
  expect(coffer(home, ["diff", "try", "-q"], { env }).stdout).not.toMatch(/paged|\u001b/);
  const preview = onTerminal(home, ["rollback", "try", "--dry-run", "-q"], { env });
  expect(preview.stdout).toMatch(/^paged: .*short\.txt/m);
  const plain = onTerminal(home, ["diff", "try", "--stat"], {
    columns: 40,
    env: { NO_COLOR: "1", PAGER: "cat" },
  });
  expect(plain.stdout).not.toContain(ESCAPE);
  expect(plain.stdout).toContain("short.txt");
  const narrow = plain.stdout.split("\n").filter((line) => !line.startsWith("  coffer"));
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(40);
  const missing = onTerminal(home, ["diff", "try", "--name-only", "-q"], {
    env: { PAGER: "no-such-pager" },
  });
  expect(missing.code).toBe(0);
  expect(missing.stdout).toContain("\nshort.txt\n");
});
