import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxCommitError, SandboxCreationError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";

const FORMATTER = `#!/bin/sh
pwd > "$OUT/where"
[ ! -e forbidden ] || { echo 'no such file here' >&2; exit 1; }
sed -i 's/ugly/pretty/' a.txt
`;
const SIGNER = `#!/bin/sh
echo >> "$1"; echo 'Checked-by: hook' >> "$1"
`;

test("commit hooks run in the worktree when they are asked for, and their word counts", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const write = (name: string, text: string): string =>
    `cat > .git/hooks/${name} <<'END'\n${text.replace("$OUT", folder)}END\nchmod 755 .git/hooks/${name}\n`;
  shell(root, write("pre-commit", FORMATTER) + write("commit-msg", SIGNER));
  await using bench = await openGit(checkout, { properties: { hooks: "run" } });
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "echo ugly > a.txt; echo x > forbidden");
  const files = filesOf(root);
  const attempt = bench.sandbox.commit({ message: "try" });
  await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(attempt).rejects.toMatchObject({ data: { reason: "hook", originalRestored: true } });
  expectOracleEqual(files, filesOf(root));
  expect(readFileSync(join(folder, "where"), "utf8")).toBe(`${worktree}\n`);
  await bench.sandbox.remove("forbidden");
  await bench.sandbox.commit({ message: "formatted" });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("pretty\n");
  expect(git(root, "log", "-1", "--format=%B")).toBe("formatted\n\nChecked-by: hook\n");
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("what a hook changes after it was reviewed is not committed under that review, and a hook's last words are told", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const hook = (script: string): string =>
    `printf '#!/bin/sh\n%s\n' '${script}' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit`;
  shell(root, hook("echo injected >> b.txt"));
  await using bench = await openGit(checkout, { properties: { hooks: "run" } });
  const { sandbox } = bench;
  await sandbox.write("a.txt", "edited\n");
  const reviewed = await sandbox.diff();
  const before = gitState(root);
  await expect(sandbox.commit({ expect: reviewed.digest })).rejects.toMatchObject({
    data: { reason: "digest", originalRestored: true },
  });
  expect(gitState(root)).toBe(before);
  shell(root, hook("echo linting; echo a.txt: no edits please >&2; exit 1"));
  await expect(sandbox.commit()).rejects.toMatchObject({
    message: expect.stringContaining("a.txt: no edits please") as string,
  });
  shell(root, hook("exit 0"));
  const again = await sandbox.diff();
  expect(again.changes.map(({ path }) => path)).toEqual(["a.txt", "b.txt"]);
  await sandbox.commit({ expect: again.digest });
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("commit hooks do not run unless they are asked for", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit",
  );
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("edited\n");
});

test.each([
  ["hooks", "yes"],
  ["include", ".env"],
  ["author", { name: 7 }],
  ["gitTimeoutMs", -1],
])("a property that means nothing is refused: %s", async (name, value) => {
  const checkout = makeCheckout();
  const attempt = openGit(checkout, { properties: { [name]: value } });
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(attempt).rejects.toMatchObject({ data: { stage: "properties" } });
  expect(existsSync(join(checkout.root, ".git/worktrees"))).toBe(false);
});
