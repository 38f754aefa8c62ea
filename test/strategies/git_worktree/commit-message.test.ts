import { expect, test } from "vitest";
import { SandboxCommitError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";
import { useHome } from "./home.ts";

test.each(["", " \n\t\n"])(
  "a message without a word in it, %j, is refused before anything is touched",
  async (message) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    const [files, state] = [filesOf(root), gitState(root)];
    const attempt = bench.sandbox.commit({ message });
    await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
    await expect(attempt).rejects.toMatchObject({
      data: { reason: "message", originalRestored: true },
    });
    expectOracleEqual(files, filesOf(root));
    expect(gitState(root)).toBe(state);
    await bench.sandbox.commit({ message: "said" });
    expect(git(root, "log", "-1", "--format=%s")).toBe("said");
  },
);

test("a message of any letters is written as what it is, whatever the user's own commits are encoded in", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  useHome(checkout.folder, "git config --global i18n.commitEncoding ISO-8859-1");
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit({ message: "Gr\u00FC\u00DFe \u2713" });
  expect(git(root, "log", "-1", "--encoding=UTF-8", "--format=%e|%s")).toBe(
    "|Gr\u00FC\u00DFe \u2713",
  );
});

test("a hook that leaves no message is taken at its word", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    `printf '#!/bin/sh\\n: > "$1"\\n' > .git/hooks/commit-msg; chmod 755 .git/hooks/commit-msg`,
  );
  await using bench = await openGit(checkout, { properties: { hooks: "run" } });
  await bench.sandbox.write("a.txt", "edited\n");
  const state = gitState(root);
  const attempt = bench.sandbox.commit({ message: "said" });
  await expect(attempt).rejects.toMatchObject({
    data: { reason: "message", originalRestored: true },
  });
  expect(gitState(root)).toBe(state);
});
