import { join } from "node:path";
import { bindAt } from "./copies.ts";
import { keptPlace } from "./endangered-worktrees.ts";
import type { MoveRequest } from "./move-request.ts";
import type { MovedRepository } from "./moved-repository.ts";
import type { ShownElsewhere } from "./hidden-places.ts";
import { isHiddenBy } from "./shown-sandbox.ts";
import { type SeenWorktree, seenWorktree } from "./submodule-links.ts";
import type { LinkedWorktree } from "./worktree.ts";

/** What is known of the repositories of a view. */
export interface RepositoriesRequest extends MoveRequest {
  /** What the repositories of worktrees need, because they are seen at another place than they lie. */
  readonly moved: ReadonlyMap<LinkedWorktree, MovedRepository>;
}

interface HiddenRepository {
  readonly git: string;
  readonly repository: string;
  readonly at: string;
  readonly text: string;
  readonly alternates: string | null;
  /** A folder of settings, and where the command sees it. */
  readonly settings: { readonly folder: string; readonly at: string } | null;
  readonly shown: readonly ShownElsewhere[];
  /** Texts over files of the repository, at every place where a command can change it. */
  readonly kept: readonly { readonly file: string; readonly text: string; readonly from: string }[];
}

/**
 * A worktree may hide its own repository, or have it where what a command writes is thrown away: the repository is shown
 * elsewhere, and the worktree is told where.
 */
export class Repositories {
  readonly #folder: string;
  readonly #hidden: readonly HiddenRepository[];
  readonly #texts: string;
  /** Where they and their worktrees lie and are seen. */
  readonly worktrees: readonly SeenWorktree[];

  constructor({ sandboxes, folder, moved, outside }: RepositoriesRequest, shownIn: string) {
    this.#folder = shownIn;
    this.#texts = folder;
    const found = sandboxes.flatMap((sandbox, index) => {
      if (!("worktree" in sandbox) || sandbox.worktree === undefined) return [];
      const { location, workspace, worktree } = sandbox;
      return [{ location, workspace, worktree, at: this.#place("git", index), index }];
    });
    this.worktrees = found.map((one) => seenWorktree(one, one.worktree, one.at));
    this.#hidden = found.map(({ location, worktree, at, index }) => {
      const text = `gitdir: ${at}/worktrees/${worktree.name}\n`;
      const { repository } = worktree;
      const {
        alternates = null,
        settings = null,
        shown = [],
        endangered = [],
      } = moved.get(worktree) ?? {};
      const isReal = outside === "allow" && !isHiddenBy(sandboxes, repository);
      return {
        git: join(location, ".git"),
        repository,
        at,
        text,
        alternates,
        settings:
          settings === null ? null : { folder: settings, at: this.#place("settings", index) },
        shown: shown.filter(({ folder: from, at: to }) => from !== to),
        kept: (isReal ? [at, repository] : [at]).flatMap((place, copy) =>
          endangered.map((name, number) => {
            const from = this.#text(`worktree-${copy}-${number}`, index);
            return { ...keptPlace(place, name), from };
          }),
        ),
      };
    });
  }

  /** Whether there are any, which then need a place. */
  get areHidden(): boolean {
    return this.#hidden.length > 0;
  }

  /** Settings that lead git, in these repositories alone, to those that they would lose. */
  get settings(): readonly (readonly [key: string, value: string])[] {
    return this.#hidden.flatMap(({ at, settings }) => {
      if (settings === null) return [];
      const pattern = at.replaceAll(/[*?[\\]/g, String.raw`\$&`);
      return [[`includeIf.gitdir:${pattern}/.path`, join(settings.at, "config")] as const];
    });
  }

  /** Steps that show the repositories, while their own places still do. */
  show(within: (path: string) => string): string[][] {
    return this.#hidden.flatMap(({ repository, at, alternates, settings, shown, kept }, index) => {
      const list = within(join(at, "objects", "info", "alternates"));
      const isElsewhere = settings !== null && settings.at !== settings.folder;
      return [
        ...bindAt(repository, within(at)),
        ...(alternates === null ? [] : [["bind", this.#text("alternates", index), list]]),
        ...(isElsewhere ? bindAt(settings.folder, within(settings.at)) : []),
        ...shown.flatMap(({ folder: from, at: to }) => showAt(from, within(to))),
        ...kept.map(({ from, file }) => ["bind", from, within(file)]),
      ];
    });
  }

  /** Steps that lead the worktrees there. */
  link(within: (path: string) => string): string[][] {
    return this.#hidden.map(({ git }, index) => ["bind", this.#text("git", index), within(git)]);
  }

  files(): Map<string, string> {
    const texts = this.#hidden.flatMap(({ text, alternates, kept }, index) => [
      [this.#text("git", index), text] as const,
      ...(alternates === null ? [] : [[this.#text("alternates", index), alternates] as const]),
      ...kept.map((one) => [one.from, one.text] as const),
    ]);
    return new Map(texts);
  }

  #place(name: string, index: number): string {
    return join(this.#folder, `${name}-${index}`);
  }

  #text(name: string, index: number): string {
    return join(this.#texts, `${name}-${index}.txt`);
  }
}

/** Steps that show a folder at a place which is not there yet, read only. */
function showAt(folder: string, target: string): string[][] {
  return [
    ["folder", target],
    ["still", folder, target, ""],
  ];
}
