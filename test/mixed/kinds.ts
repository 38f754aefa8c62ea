import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeOracle } from "../support/oracle.ts";
import { shell } from "../strategies/shell.ts";
import { git, gitState } from "../strategies/git_worktree/checkout.ts";
import { mariadb, postgres, sqlite } from "./database-kinds.ts";
import type { Member, Yard } from "./member.ts";

function directory(strategy: string): (yard: Yard) => Member {
  return ({ folder }) => {
    const location = join(folder, strategy);
    shell(folder, `mkdir -p '${strategy}/sub'; cd '${strategy}'; echo old > a; echo old > sub/b`);
    return {
      id: strategy,
      type: "fs-directory",
      location,
      sandboxStrategy: strategy,
      edit: async (sandbox, value) => {
        await sandbox.write("a", `${value}\n`);
        await sandbox.write(`made-${value}/c`, `${value}\n`);
      },
      look: () => JSON.stringify(takeOracle(location)),
      value: () => readFileSync(join(location, "a"), "utf8").trim(),
      disturb: () => writeFileSync(join(location, "a"), "theirs\n"),
    };
  };
}

function repository({ folder }: Yard): Member {
  const location = join(folder, "git");
  const identity = "git config user.name Tess; git config user.email tess@example.invalid";
  shell(
    folder,
    `git init -q -b main git; cd git; ${identity}; echo old > a; git add -A; git commit -qm first`,
  );
  return {
    id: "git",
    type: "git-repository",
    location,
    edit: async (sandbox, value) => {
      await sandbox.write("a", `${value}\n`);
      await sandbox.write(`made-${value}/c`, `${value}\n`);
    },
    look: () =>
      `${gitState(location)}\n${JSON.stringify(takeOracle(location, { exclude: [".git"] }))}`,
    value: () => git(location, "show", "HEAD:a"),
    disturb: () => {
      shell(location, "echo theirs > a; git commit -qam theirs");
    },
  };
}

/** How each kind of resource is made. */
export const KINDS: Readonly<Record<string, (yard: Yard) => Member>> = {
  overlay: directory("overlay"),
  copy: directory("copy_on_write"),
  git: repository,
  postgres,
  mariadb,
  sqlite,
};

/**
 * Six choices of three kinds: every pair of kinds is in one of them, and every kind has every place. All choices are many
 * more, and take long.
 */
export function coveringChoices(): string[][] {
  const names = Object.keys(KINDS);
  const turned = (by: number): string[] => [...names.slice(by), ...names.slice(0, by)];
  // Any two of six on a circle are one, two or three steps apart.
  return names.map((_, by) => [0, 1, 3].flatMap((at) => turned(by)[at] ?? []));
}

/** All choices of so many kinds. */
export function choicesOf(count: number): string[][] {
  const choose = (names: readonly string[], left: number): string[][] =>
    left === 0
      ? [[]]
      : names.flatMap((name, at) =>
          choose(names.slice(at + 1), left - 1).map((rest) => [name, ...rest]),
        );
  return choose(Object.keys(KINDS), count);
}
