import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { type Home, coffer, node, run } from "./coffer.ts";
import { homeWithOddStrategies } from "./odd-strategies.ts";

/** Does something with the plan `try` as a program of a user would. */
function through(home: Home, work: string): string {
  const program = `
    import { openCofferdam } from "cofferdam";
    const cofferdam = await openCofferdam();
    const sandbox = (await cofferdam.plan("try")).sandbox("data");
    console.log(await (${work})(sandbox));
    await cofferdam.close();`;
  const { code, stdout, stderr } = run(home, node, ["--input-type=module", "-e", program]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim();
}

/** A plan over a folder whose strategy offers little, with an edit. */
function edited(): Home {
  const home = homeWithOddStrategies({ "data/file": "old\n" });
  answerOf(home, ["open", "try", "-r", "bare+dir:./data"]);
  through(home, `async (sandbox) => (await sandbox.write("file", "mine\\n")).kind`);
  return home;
}

test("nobody is sent to SQL for a resource that is no database", () => {
  const home = edited();
  const { stderr } = coffer(home, ["exec", "try", "--", "true"]);
  expect(stderr).toMatch(/^data: .*\n {2}bare gives programs no path/m);
  expect(stderr).not.toContain("sql");
  expect(coffer(home, ["path", "try"]).stderr).toMatch(/^hint: (?!.*sql)/m);
});

test("only what the strategies of a plan can do is suggested", () => {
  const { code, stderr } = coffer(edited(), ["diff", "try"]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("coffer rollback") as string,
  });
  expect(stderr).not.toContain("coffer drop");
});

test("a preview says when nobody could look whether the undo is possible", () => {
  const home = edited();
  answerOf(home, ["commit", "try"]);
  writeFileSync(join(home.project, "data/file"), "theirs, and longer\n");
  expect(answerOf(home, ["rollback", "try", "--dry-run"])).toMatchObject({
    resources: { data: { possible: true, isChecked: false, obstacle: null } },
  });
  expect(coffer(home, ["rollback", "try", "--dry-run"]).stdout).toContain("not checked");
  answerOf(home, ["rollback", "try"], 3);
});

test("another digest than the expected one is refused, whatever the strategy looks at", () => {
  const home = edited();
  const refused = through(
    home,
    `(sandbox) => sandbox.commit({ expect: "0".repeat(64) }).catch(({ data }) => data.reason)`,
  );
  expect(refused).toBe("digest");
  expect(readFileSync(join(home.project, "data/file"), "utf8")).toBe("old\n");
});

test("a run that cannot start tells why, and keeps the plan, where nobody can look what was done", () => {
  const home = homeWithOddStrategies({ "data/file": "old\n", "repo/.gitignore": "made\n" });
  const repository = join(home.project, "repo");
  const commit = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-qm", "first"];
  for (const args of [["init", "-q"], ["add", "."], commit])
    expect(run(home, "git", ["-C", repository, ...args]).code).toBe(0);
  mkdirSync(join(repository, "made"));
  const resources = ["-r", "git:..", "-r", "unseen+dir:../../data"];
  const { stderr } = coffer(home, ["run", "-p", "try", ...resources, "--", "true"], {
    cwd: join(repository, "made"),
  });
  expect(stderr).toContain("repo/made");
  expect(stderr).not.toContain("made to fail");
  expect(answerOf(home, ["list"])).toHaveLength(1);
});
