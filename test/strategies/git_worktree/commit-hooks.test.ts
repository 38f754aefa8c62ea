import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxCommitError, SandboxCreationError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, makeCheckout, openGit } from "./checkout.ts";

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
