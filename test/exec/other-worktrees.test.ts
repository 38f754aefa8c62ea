import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ExecSite, openExecSite } from "./site.ts";

const FIRST = `git config --global user.name T; git config --global user.email t@t.invalid
  git init -q -b main; echo '.worktrees/' > .gitignore; git add -A; git commit -qm first`;
/** A worktree with a commit that no branch has, and a staged file that no commit has. */
const WORK = `git worktree add -q --detach "$at"
  (cd "$at"; echo hours > w; git add w; git commit -qm work; echo staged > s; git add s)`;
const CLEAR = "git worktree prune -v; git gc -q --prune=now";
const STATE = "git log --format=%s; git show :s; git status --short";
const WHOLE = "work\nfirst\nstaged\nA  s\n";

/** A plan over the project as a repository with such a worktree, or over another checkout that the script makes. */
function openWithWorktree(at: string, more = "true", checkout = ""): Promise<ExecSite> {
  return openExecSite((home) => {
    const location = join(home, "project");
    inFolder(location, `${FIRST}; at='${at}'; ${WORK}; ${more}`);
    return [{ id: "code", type: "git-repository", location: join(location, checkout) }];
  });
}

it.each(["discard", "read-only", "allow"] as const)(
  "a worktree inside the checkout outlives what git clears away in a command, outside: %s",
  async (outside) => {
    const { project, plan, run } = await openWithWorktree(".worktrees/mine");
    const ran = await run(
      `set -e; git reflog expire --expire=now --all; ${CLEAR}; git worktree remove -ff mine && exit 3
       git worktree list | wc -l; git worktree add -q .worktrees/inner; git worktree remove inner
       echo x > a.txt; git commit -qam inside; git fsck --no-dangling`,
      { outside },
    );
    expect(ran).toMatchObject({ exitCode: 0, stdout: "3\n" });
    expect(inFolder(join(project, ".worktrees/mine"), STATE)).toBe(WHOLE);
    expect((await plan.commit()).outcome).toBe("committed");
    expect(
      inFolder(project, "git worktree prune -v; git log --format=%s; git fsck --no-dangling"),
    ).toBe("inside\nfirst\n");
  },
);

it.each(["discard", "allow"] as const)(
  "so does one inside a checkout that is a linked worktree itself, outside: %s",
  async (outside) => {
    const more = "git worktree add -q ../linked; git worktree move .worktrees/mine ../linked/mine";
    const { home, project, run } = await openWithWorktree(".worktrees/mine", more, "../linked");
    const linked = join(home, "linked");
    // As root what is thrown away includes the repository at its own place.
    await run(`cd '${linked}'; ${CLEAR}; cd '${project}'; ${CLEAR}`, { outside });
    expect(inFolder(join(linked, "mine"), STATE)).toBe(WHOLE);
  },
);

it("a worktree whose removal is thrown away stays, and one that is gone goes", async () => {
  const gone = "git worktree add -q ../gone; rm -rf ../gone";
  const { home, project, run } = await openWithWorktree("../beside", gone);
  await run(`git worktree remove -ff ../beside; rm -rf ../beside; ${CLEAR}`);
  expect(inFolder(join(home, "beside"), STATE)).toBe(WHOLE);
  expect(inFolder(project, "git worktree list --porcelain")).not.toContain("gone");
});

function inFolder(cwd: string, script: string): string {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  return execFileSync("sh", ["-ec", script], { cwd, encoding: "utf8", stdio: [...stdio] });
}
