import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ExecSite, openExecSite } from "./site.ts";

const IDENTITY = "git config --global user.name T; git config --global user.email t@t.invalid";
const FIRST = "echo first > b.txt; git add b.txt; git commit -qm first";

/** Checkouts whose repositories lie elsewhere, by how they are made in the folder beside the project. */
const ELSEWHERE = {
  "a linked worktree": `git init -q -b main main; cd main; ${FIRST}; git worktree add -q ../checkout -b topic`,
  "a checkout that a link leads to": `git init -q -b topic real; ln -s real checkout; cd checkout; ${FIRST}`,
  "a checkout that an absolute link leads to": `git init -q -b topic real; ln -s $PWD/real checkout; cd checkout; ${FIRST}`,
  "a git directory that a link leads to": `git init -q -b topic checkout; mv checkout/.git git; ln -s ../git checkout/.git; cd checkout; ${FIRST}`,
  "a git directory elsewhere": `git init -q -b topic --separate-git-dir git checkout; cd checkout; ${FIRST}`,
};

function openCheckout(how: string): Promise<ExecSite> {
  return openExecSite((home) => {
    const cwd = join(home, "project");
    execFileSync("sh", ["-ec", `${IDENTITY}; ${how}`], { cwd });
    return [{ id: "code", type: "git-repository", location: join(cwd, "checkout") }];
  });
}

it.each(Object.entries(ELSEWHERE))(
  "what a command commits in %s is kept, and becomes part of the history",
  async (_name, how) => {
    for (const outside of ["discard", "allow"] as const) {
      const { project, plan, run } = await openCheckout(how);
      const checkout = join(project, "checkout");
      const script = `cd checkout; echo more >> b.txt; git commit -qam inside; echo staged > c.txt; git add c.txt
        git status --short; git log --format=%s`;
      const ran = await run(script, { outside });
      expect(ran).toMatchObject({ exitCode: 0, stdout: "A  c.txt\ninside\nfirst\n" });
      expect((await run("cd checkout; git status --short", { outside })).stdout).toBe("A  c.txt\n");
      expect(git(checkout, "log", "--format=%s")).toBe("first\n");
      expect((await plan.commit()).outcome).toBe("committed");
      expect(git(checkout, "log", "--format=%s", "HEAD~")).toBe("inside\nfirst\n");
      expect(git(checkout, "status", "--porcelain")).toBe("");
      await plan.rollback();
      expect(git(checkout, "log", "--format=%s")).toBe("first\n");
    }
  },
);

it("a link that a command puts into its worktree shows it no other folder of the machine", async () => {
  const { project, plan, run } = await openCheckout(ELSEWHERE["a linked worktree"]);
  const other = join(project, "main");
  const worktree = await plan.sandbox("code").getPath();
  execFileSync("sh", ["-c", `echo 'gitdir: ${other}/worktrees/x' > .git`], { cwd: worktree });
  await run("cd checkout; echo x > $(sed 's/gitdir: //' .git)/../../written || true");
  expect(execFileSync("ls", [other], { encoding: "utf8" })).toBe("b.txt\n");
});

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8" });
}
