import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ExecSite, openExecSite } from "./site.ts";

const FIRST = "git init -q -b main; git add -A; git commit -qm first";
const GLOBAL = `git config --global user.name T; git config --global user.email home@t.invalid`;

/** The project as a repository, after a script in it; git has settings of its own for everything in the project. */
function openRepository(script: string, name = ""): Promise<ExecSite> {
  return openExecSite((home) => {
    const location = join(home, "project");
    const lines = `${GLOBAL}; git config --global 'includeIf.gitdir:project/.path' '~/place config'
      git config -f ~/'place config' user.email work@t.invalid; git config -f ~/'place config' alias.odd '!echo "a;b"'
      ${FIRST}; ${script}`;
    inFolder(location, lines);
    return [{ id: "code", type: "git-repository", location }];
  }, name);
}

it.each(["discard", "read-only", "allow"] as const)(
  "settings that the user has for the place of a repository hold for a command, outside: %s",
  async (outside) => {
    const { project, plan, run } = await openRepository("true", "an odd [home]");
    const ran = await run(
      `git config user.email; git odd; echo x > a.txt; git commit -qam inside
       mkdir ~/other; cd ~/other; git init -q; git config user.email`,
      { outside },
    );
    // Another repository has the settings of its own place.
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: "work@t.invalid\na;b\nhome@t.invalid\n",
      stderr: "",
    });
    expect(ran.outside?.changes.filter(({ path }) => path.startsWith(project)) ?? []).toEqual([]);
    await plan.commit();
    expect(inFolder(project, "git log -1 --format=%ae; git status --short")).toBe(
      "work@t.invalid\n",
    );
  },
);

it("what the repository itself sets counts more than what the user has for its place", async () => {
  const { run } = await openRepository("git config user.email own@t.invalid");
  expect((await run("git config user.email; git odd")).stdout).toBe("own@t.invalid\na;b\n");
});

it("settings of the command's own environment stay, and come before a command line", async () => {
  const { run } = await openRepository("true");
  const env = {
    ...process.env,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_VALUE_0: "Env",
  };
  const { stdout } = await run(
    "git config user.name; git config user.email; git -c user.email=line config user.email",
    { env },
  );
  expect(stdout).toBe("Env\nwork@t.invalid\nline\n");
});

it("objects and settings that a repository names by relative paths are found by a command", async () => {
  for (const outside of ["discard", "allow"] as const) {
    const { project, plan, run } = await openRepository(
      `git clone -q --bare . ../base; echo ../../../base/objects > .git/objects/info/alternates
       git repack -qadl; git config -f .more alias.st 'status -s'; git config include.path ../.more
       git add -A; git commit -qm more`,
    );
    const script = "git st; git log --format=%s; echo x > a.txt; git commit -qam inside; git st";
    expect(await run(script, { outside })).toMatchObject({
      stdout: "more\nfirst\n",
      stderr: "",
      exitCode: 0,
    });
    await plan.commit();
    expect(inFolder(project, "git log -1 --format=%s HEAD; git fsck")).toBe("inside\n");
    expect(inFolder(project, "cat .git/objects/info/alternates")).toBe("../../../base/objects\n");
  }
});

it.each(["discard", "read-only", "allow"] as const)(
  "settings that name places in the repository, or that its worktree hides, hold for a command, outside: %s",
  async (outside) => {
    const { project, plan, run } =
      await openRepository(`echo /hid/ >> .gitignore; git add .gitignore
      git commit -qm ignore; mkdir hid .git/hooked; ln -s "$PWD" ../way
      git config include.path "$PWD/.git/extra"; git config -f .git/extra user.email own@t.invalid
      git config -f .git/extra --add include.path ~/visible; git config -f ~/visible alias.more '!echo more'
      git config -f .git/extra core.excludesFile "$PWD/hid/exclude"; echo '*.secret' > hid/exclude
      git config core.hooksPath "$PWD/.git/hooked"; git config core.attributesFile ~/way/.git/attributes
      printf '#!/bin/sh\necho guarded >&2\n' > .git/hooked/pre-commit; chmod +x .git/hooked/*
      echo '* ours' > .git/attributes; git config commit.template "$PWD/.git/template"; echo t > .git/template`);
    const ran = await run(
      `echo x > a.txt; echo x > b.secret; git add -A; git commit -qm inside; git more; git status --short
       git check-attr ours a.txt; cat "$(git config commit.template)"; git log -1 --format=%ae`,
      { outside },
    );
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: "more\na.txt: ours: set\nt\nown@t.invalid\n",
      stderr: "guarded\n",
    });
    // What a command says itself counts, and another repository has none of it.
    const env = {
      ...process.env,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "user.email",
      GIT_CONFIG_VALUE_0: "env@t.invalid",
    };
    const { stdout } = await run(
      `git config user.email; git -c core.hooksPath=/none commit -q --allow-empty -m unguarded
       other=$(mktemp -d); cd "$other"; git init -q; git config --get-regexp '^core.(hooks|excl)'; rm -r "$other"`,
      { outside, env },
    );
    expect(stdout).toBe("env@t.invalid\n");
    await plan.commit();
    expect(inFolder(project, "git show --format=%s --name-only HEAD~; git fsck")).toBe(
      "inside\n\na.txt\n",
    );
  },
);

it.each([
  ["core.hooksPath", "git config core.hooksPath ~/.local"],
  ["core.hooksPath through a link", "git config core.hooksPath ~/.cache/way"],
  ["alternates", "echo ~/.local/state > .git/objects/info/alternates"],
])(
  "a repository around the state of the engine opens nothing of that to a command by its %s",
  async (_name, script) => {
    const { home, run } = await openExecSite((location) => {
      inFolder(location, `${GLOBAL}; printf '.local\\n.cache\\n' > .gitignore; ${FIRST}`);
      inFolder(location, "mkdir -p .cache .local/hooks; ln -s ../.local/state .cache/way");
      return [{ id: "code", type: "git-repository", location }];
    });
    inFolder(home, script);
    for (const outside of ["discard", "read-only"] as const) {
      const named = `"$(git config core.hooksPath)" "$(cat "$(git rev-parse --git-path objects/info/alternates)")"`;
      const ran = await run(`find ${named} -name plan.json 2> /dev/null; echo looked`, { outside });
      expect(ran).toMatchObject({ exitCode: 0, stdout: "looked\n" });
    }
    expect(inFolder(home, "find .local -name plan.json | wc -l")).toBe("1\n");
  },
);

it("objects that a repository has in a folder which its worktree hides are found by a command, which cannot change them", async () => {
  for (const outside of ["discard", "allow"] as const) {
    const { project, plan, run } = await openRepository(
      `echo /cache/ >> .gitignore; git add -A; git commit -qm more; git clone -q --bare . cache/base; git -C cache/base repack -qad
       echo "$PWD/cache/base/objects" > .git/objects/info/alternates; git repack -qadl`,
    );
    const ran = await run(
      `git log --format=%s; echo x > a.txt; git commit -qam inside
       echo x > "$(tail -1 "$(git rev-parse --git-path objects/info/alternates)")/made"; ls cache`,
      { outside },
    );
    expect(ran.stdout).toBe("more\nfirst\n");
    await plan.commit();
    const look = "git log -1 --format=%s; git fsck; ls cache/base/objects | grep made || true";
    expect(inFolder(project, look)).toBe("inside\n");
  }
});

function inFolder(cwd: string, script: string): string {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  return execFileSync("sh", ["-ec", script], { cwd, encoding: "utf8", stdio: [...stdio] });
}
