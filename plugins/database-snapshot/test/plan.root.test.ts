import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AtomicCommitError, type Cofferdam, type Plan } from "cofferdam";
import { describe, expect, it } from "vitest";
import { Ground, psql, useServer } from "./ground.ts";

const on = useServer();
const MEMBERS = ["directory", "git", "database"] as const;
type Member = (typeof MEMBERS)[number];

/** A directory and a repository, each with a file `page`, and a database with such a row. */
class Trio {
  readonly ground = new Ground(
    on.server,
    "CREATE TABLE pages (id int PRIMARY KEY, text text); INSERT INTO pages VALUES (1, 'old')",
  );
  readonly folders: Readonly<Record<"directory" | "git", string>>;

  constructor() {
    const { folder } = this.ground;
    this.folders = { directory: join(folder, "directory"), git: join(folder, "git") };
    for (const place of Object.values(this.folders)) {
      mkdirSync(place);
      writeFileSync(join(place, "page"), "old\n");
    }
    run(
      this.folders.git,
      "git init -qb main; git config user.name T; git config user.email t@example.invalid; git add -A; git commit -qm first",
    );
  }

  /** A plan over all three in this order, with every page edited by one command. */
  async plan(cofferdam: Cofferdam, order: readonly Member[]): Promise<Plan> {
    const kinds = {
      directory: { type: "fs-directory", location: this.folders.directory },
      git: { type: "git-repository", location: this.folders.git },
      database: { type: "database", location: "main", sandboxStrategy: "database_snapshot" },
    } as const;
    const plan = await cofferdam.plan(
      "trio",
      order.map((id) => ({ id, ...kinds[id] })),
    );
    await this.edit(plan, "new");
    return plan;
  }

  async edit(plan: Plan, text: string): Promise<void> {
    const { directory, git } = this.folders;
    const ran = await this.ground.run(
      plan,
      `for page in ${directory}/page ${git}/page; do echo ${text} > $page; done; ${psql(`UPDATE pages SET text = '${text}'`)}`,
    );
    if (ran.exitCode !== 0) throw new Error(`the command ended with ${ran.exitCode}`);
  }

  pages(): string[] {
    const { directory, git } = this.folders;
    const files = [directory, git].map((folder) => run(folder, "cat page").trim());
    return [...files, ...this.ground.sql("SELECT text FROM pages")];
  }

  /** Somebody else edits one of them. */
  disturb(id: Member): void {
    if (id === "database") this.ground.sql("UPDATE pages SET text = 'foreign'");
    else run(this.folders[id], "echo foreign > page");
  }
}

function run(folder: string, script: string): string {
  return execFileSync("sh", ["-euc", script], { cwd: folder, encoding: "utf8" });
}

const ORDERS: readonly (readonly Member[])[] = [
  ["database", "directory", "git"],
  ["directory", "database", "git"],
  ["directory", "git", "database"],
];

describe.each(ORDERS)("a plan over %s, %s and %s", (...order) => {
  it("is committed, taken back, checkpointed and restored as one", async () => {
    const trio = new Trio();
    await using cofferdam = await trio.ground.open();
    const plan = await trio.plan(cofferdam, order);
    await plan.checkpoint("new");
    await trio.edit(plan, "later");
    await plan.restoreCheckpoint("new");
    expect((await plan.commit()).outcome).toBe("committed");
    expect(trio.pages()).toEqual(["new", "new", "new"]);
    await plan.undo();
    expect(trio.pages()).toEqual(["old", "old", "old"]);
    await plan.commit();
    await plan.cleanup();
    expect(trio.pages()).toEqual(["new", "new", "new"]);
    expect(trio.ground.clones()).toEqual([]);
  });

  it.each(order)("changes nothing when %s fails", async (failing) => {
    const trio = new Trio();
    await using cofferdam = await trio.ground.open();
    const plan = await trio.plan(cofferdam, order);
    trio.disturb(failing);
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: failing } },
    });
    expect(trio.pages()).toEqual(MEMBERS.map((id) => (id === failing ? "foreign" : "old")));
    await plan.cleanup();
  });
});
