import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Plan } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { type ExecSite, openExecSite } from "./site.ts";

const ALLOW = "-c protocol.file.allow=always";
const FILL = `git ${ALLOW} submodule -q update --init --recursive`;

/** A plan over a repository with a submodule, in an odd folder, that has one itself. */
async function openWithSubmodules(): Promise<ExecSite & { readonly worktree: string }> {
  const site = await openExecSite((home) => {
    const location = join(home, "project");
    const script = `git config --global user.name T; git config --global user.email t@t.invalid
      for name in inner lib; do git init -q -b main ../$name; echo $name > ../$name/l; git -C ../$name add -A
        git -C ../$name commit -qm $name; done
      git -C ../lib ${ALLOW} submodule -q add ../inner deep/inner; git -C ../lib commit -qm nested
      git init -q -b main; git ${ALLOW} submodule -q add --name "odd name" ../lib 'a "lib; #1'
      git add -A; git commit -qm first`;
    execFileSync("sh", ["-ec", script], { cwd: location });
    return [{ id: "code", type: "git-repository", location }];
  });
  return Object.assign(site, { worktree: await site.plan.sandbox("code").getPath() });
}

const STATES = "git status --short; git submodule status --recursive | cut -c1 | sort | uniq -c";

it.each(["discard", "allow"] as const)(
  "submodules that a command filled are no edits, and work in the worktree too (outside %s)",
  async (outside) => {
    const { project, plan, run, worktree } = await openWithSubmodules();
    const ran = await run(`${FILL}; echo new > a.txt; ${STATES}`, { outside });
    expect(ran.stdout).toBe(" M a.txt\n      2  \n");
    expect((await plan.diff()).resources["code"]?.changes).toMatchObject([{ path: "a.txt" }]);
    expect(inFolder(worktree, STATES)).toBe(ran.stdout);
    expect((await run(STATES, { outside })).stdout).toBe(ran.stdout);
    expect((await plan.commit()).outcome).toBe("committed");
    expect(inFolder(project, "cat a.txt; git status --short")).toBe("new\n");
  },
);

it("submodules that were filled in the worktree work for a command, which can go on with them", async () => {
  const { plan, run, worktree } = await openWithSubmodules();
  inFolder(worktree, FILL);
  const ran = await run(`${STATES}; ${FILL}; cat */deep/inner/l; cd a*lib*; echo edit >> l`);
  expect(ran).toMatchObject({ exitCode: 0, stdout: "      2  \ninner\n" });
  expect(inFolder(worktree, "git status --short")).toBe(' m "a \\"lib; #1"\n');
  await expectRefused(plan);
});

it("links that a command puts in the place of a submodule, or of its repository, are not followed", async () => {
  const { plan, run, worktree } = await openWithSubmodules();
  const other = tempFolder();
  inFolder(other, "git init -q; git config core.worktree /keep; mkdir linked");
  await run(`${FILL}; modules=$(git rev-parse --git-dir)/modules; cd a*lib*
    rm -rf "$modules/odd name/modules/deep/inner"; ln -s '${other}/.git' "$modules/odd name/modules/deep/inner"`);
  expect(inFolder(other, "git config -f .git/config core.worktree")).toBe("/keep\n");
  await expectRefused(plan);
  inFolder(
    worktree,
    `sed 's|^gitdir: .*/worktrees|gitdir: x/worktrees|' a*lib*/.git > '${other}/linked/.git'
    cp '${other}/linked/.git' '${other}/before'; rm -rf a*lib*; ln -s '${other}/linked' 'a "lib; #1'`,
  );
  await run("true");
  expect(inFolder(other, "cmp linked/.git before && echo same")).toBe("same\n");
});

it("a repository of a submodule with settings that git cannot read is left as it is", async () => {
  const { plan, run, worktree } = await openWithSubmodules();
  const ran = await run(
    `${FILL}; echo '[broken' > "$(git rev-parse --git-dir)/modules/odd name/config"`,
  );
  expect(ran.exitCode).toBe(0);
  await expectRefused(plan);
  inFolder(worktree, "rm -rf a*lib*; mkdir 'a \"lib; #1'");
  expect((await plan.diff()).resources["code"]?.changes).toEqual([]);
});

/** A look tells the submodule by its path, and a commit refuses it. */
async function expectRefused(plan: Plan): Promise<void> {
  expect((await plan.diff()).resources["code"]?.changes).toMatchObject([
    { path: 'a "lib; #1', notes: [expect.any(String), expect.stringContaining("refuses")] },
  ]);
  await expect(plan.sandbox("code").commit()).rejects.toMatchObject({
    data: { reason: "submodule" },
  });
}

function inFolder(cwd: string, script: string): string {
  return execFileSync("sh", ["-ec", script], { cwd, encoding: "utf8" });
}
