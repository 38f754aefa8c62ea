import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { coffer, makeHome, run } from "./coffer.ts";

const FILES = { "site/a.txt": "a\n", "notes.txt": "old\n" };

test("says of a plan with nothing to commit how to go on in it, and opens it again", () => {
  const home = makeHome(FILES);
  coffer(home, ["open", "try", "-q", "-r", "filesystem_copy+dir:./site"]);
  const none = coffer(home, ["commit", "try"]);
  expect(none.stderr).toBe(
    [
      "There was nothing to commit.",
      "  coffer rollback try  # open the plan again, as it is",
      "  coffer clean try     # forget the plan",
      "",
    ].join("\n"),
  );
  expect(coffer(home, ["exec", "try", "--", "true"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "`coffer rollback try` takes back what this one committed, if anything, and opens it again.",
    ) as string,
  });
  const back = coffer(home, ["rollback", "try"]);
  expect(back).toMatchObject({ code: 0 });
  expect(back.stderr).toContain("site  nothing had been committed; the sandbox is open again\n");
  expect(coffer(home, ["status", "try", "-q"]).stdout).toMatch(/^try is open\n/);
  expect(coffer(home, ["exec", "try", "-q", "--", "true"])).toMatchObject({ code: 0 });
});

test("keeps the edits of a fork whose commit found them published already, and commits them later", () => {
  const home = makeHome({ "repo/b.txt": "b\n" });
  const repo = join(home.project, "repo");
  const author = ["-c", "user.name=You", "-c", "user.email=you@example.invalid"];
  run(home, "git", ["-C", repo, "init", "-q", "-b", "main"]);
  run(home, "git", ["-C", repo, "add", "-A"]);
  run(home, "git", ["-C", repo, ...author, "commit", "-qm", "first"]);
  coffer(home, ["open", "one", "-q", "-r", "git:./repo"]);
  coffer(home, ["exec", "one", "-q", "--", "sh", "-c", `echo edit > '${repo}/b.txt'`]);
  coffer(home, ["fork", "one", "two", "-q"]);
  coffer(home, ["commit", "one", "-q", "-m", "one"]);
  expect(coffer(home, ["commit", "two"]).stderr).toContain("There was nothing to commit.\n");
  coffer(home, ["rollback", "one", "-q"]);
  expect(readFileSync(join(repo, "b.txt"), "utf8")).toBe("b\n");
  coffer(home, ["rollback", "two", "-q"]);
  expect(coffer(home, ["diff", "two", "-q"]).stdout).toContain("+edit\n");
  expect(coffer(home, ["commit", "two", "-q", "-m", "two"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(repo, "b.txt"), "utf8")).toBe("edit\n");
});

test("tells of commits that change no file, does not forget them unasked, and publishes them", () => {
  const home = makeHome({ "repo/b.txt": "b\n" });
  const repo = join(home.project, "repo");
  const author = ["-c", "user.name=You", "-c", "user.email=you@example.invalid"];
  const git = ["git", "-C", repo, ...author];
  const empty = [...git, "commit", "-q", "--allow-empty", "-m", "release"];
  run(home, "git", ["-C", repo, "init", "-q", "-b", "main"]);
  run(home, "git", ["-C", repo, "add", "-A"]);
  run(home, "git", ["-C", repo, ...author, "commit", "-qm", "first"]);
  coffer(home, ["run", "--plan", "one", "-q", "-r", "git:./repo", "--", ...empty]);
  expect(answerOf(home, ["diff", "one"])).toMatchObject({
    sandboxes: [{ resourceId: "repo", changes: [], commits: 1 }],
  });
  expect(coffer(home, ["clean", "one"])).toMatchObject({ code: 4 });
  expect(coffer(home, ["commit", "one", "-q"])).toMatchObject({ code: 0 });
  expect(run(home, "git", ["-C", repo, "log", "--format=%s"]).stdout).toBe("release\nfirst\n");
});

test("tells of commits that do not come along, and does not forget them unasked", () => {
  const home = makeHome({ "repo/b.txt": "b\n" });
  const repo = join(home.project, "repo");
  const author = ["-c", "user.name=You", "-c", "user.email=you@example.invalid"];
  const git = ["git", "-C", repo, ...author];
  run(home, "git", ["-C", repo, "init", "-q", "-b", "main"]);
  run(home, "git", ["-C", repo, "add", "-A"]);
  run(home, "git", ["-C", repo, ...author, "commit", "-qm", "first"]);
  const amend = [...git, "commit", "-q", "--amend", "-m", "amended"];
  coffer(home, ["run", "--plan", "one", "-q", "-r", "git:./repo", "--", ...amend]);
  expect(answerOf(home, ["diff", "one"])).toMatchObject({
    sandboxes: [{ resourceId: "repo", changes: [], strayCommits: 1 }],
  });
  const told =
    "repo: 1 commit made inside does not come along: what is published does not continue it";
  expect(coffer(home, ["diff", "one"]).stdout).toContain(told);
  expect(coffer(home, ["clean", "one"])).toMatchObject({ code: 4 });
});

test.each([
  ["that the worktree was moved away from", "git switch -q --detach HEAD~"],
  ["whose rebase stopped", "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~"],
])("a plan for one command keeps commits %s, and is not forgotten unasked", (_name, end) => {
  const home = makeHome({ "repo/b.txt": "b\n" });
  const repo = join(home.project, "repo");
  const git = (...args: readonly string[]): string =>
    run(home, "git", ["-C", repo, ...args]).stdout;
  git("init", "-q", "-b", "main");
  git("config", "user.name", "You");
  git("config", "user.email", "you@example.invalid");
  git("add", "-A");
  git("commit", "-qm", "first");
  const script = `cd '${repo}'; echo work > b.txt; git commit -qam wip; ${end}`;
  coffer(home, ["run", "-r", "git:./repo", "--", "sh", "-c", script]);
  expect(coffer(home, ["diff", "run-1"]).stdout).toContain("1 commit made inside does not come");
  expect(coffer(home, ["clean", "run-1"])).toMatchObject({ code: 4 });
  expect(git("log", "--branches=cofferdam-*", "--format=%s")).toBe("wip\nfirst\n");
  expect(coffer(home, ["clean", "run-1", "--force"])).toMatchObject({ code: 0 });
});

test("does not suggest a rollback that would concern more than the empty commit", () => {
  const home = makeHome(FILES);
  const resources = ["-r", "filesystem_copy+dir:./site", "-r", "filesystem_copy+file:notes.txt"];
  coffer(home, ["open", "try", "-q", ...resources]);
  coffer(home, ["exec", "try", "-q", "--", "sh", "-c", "echo new > site/a.txt"]);
  const { stderr } = coffer(home, ["commit", "try", "--only", "notes.txt"]);
  expect(stderr).toContain("There was nothing to commit.\n");
  expect(stderr).not.toContain("coffer rollback");
});

test("says of a resource beside others that nothing of it was committed", () => {
  const home = makeHome(FILES);
  const resources = ["-r", "filesystem_copy+dir:./site", "-r", "filesystem_copy+file:notes.txt"];
  coffer(home, ["open", "try", "-q", ...resources]);
  coffer(home, ["exec", "try", "-q", "--", "sh", "-c", "echo new > site/a.txt"]);
  coffer(home, ["commit", "try", "-q"]);
  const { stderr } = coffer(home, ["rollback", "try"]);
  expect(stderr).toContain("site  the commit is taken back, and the edits are gone\n");
  expect(stderr).toContain("notes.txt  nothing had been committed\n");
});
