import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AtomicCommitError, type Cofferdam, type Plan } from "cofferdam";
import { afterAll, describe, expect, it } from "vitest";
import { Site, shell } from "./site.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

const KEPT = "localhost/trio:1";
const MEMBERS = ["directory", "git", "container"] as const;
type Member = (typeof MEMBERS)[number];

/** A directory, a repository and the directory of a container, each with a file `page`. */
class Trio {
  readonly site = new Site(engine);
  readonly folders: Readonly<Record<Member, string>>;

  constructor() {
    const { folder, root } = this.site;
    const [directory, git] = ["directory", "git"].map((name) => join(folder, name));
    this.folders = { directory: directory ?? "", git: git ?? "", container: root };
    for (const name of ["directory", "git"] as const) {
      mkdirSync(this.folders[name]);
      writeFileSync(join(this.folders[name], "page"), "old\n");
    }
    shell(
      this.folders.git,
      "git init -qb main; git config user.name T; git config user.email t@example.invalid; git add -A; git commit -qm first",
    );
  }

  /** A plan over all three in this order, with every page, and the system, edited by one command. */
  async plan(cofferdam: Cofferdam, order: readonly Member[]): Promise<Plan> {
    const kinds = {
      directory: { type: "fs-directory" },
      git: { type: "git-repository" },
      container: { type: "fs-directory", sandboxStrategy: "container" },
    } as const;
    const resources = order.map((id) => ({ id, location: this.folders[id], ...kinds[id] }));
    const plan = await cofferdam.plan("trio", resources);
    await this.edit(plan, "new");
    return plan;
  }

  async edit(plan: Plan, text: string): Promise<void> {
    const pages = Object.values(this.folders).map((folder) => `${folder}/page`);
    const lines = [...pages, "/etc/page"].map((page) => `echo ${text} > ${page}`);
    await this.site.run(plan, lines.join("\n"));
  }

  pages(): string[] {
    return MEMBERS.map((name) => shell(this.folders[name], "cat page"));
  }
}

const ORDERS: readonly (readonly Member[])[] = [
  ["container", "directory", "git"],
  ["directory", "container", "git"],
  ["directory", "git", "container"],
];

describe.each(ORDERS)("a plan over %s, %s and %s", (...order) => {
  it("is committed, taken back, checkpointed and restored as one", async () => {
    const trio = new Trio();
    await using cofferdam = await trio.site.open({ keep: KEPT });
    const plan = await trio.plan(cofferdam, order);
    await plan.checkpoint("new");
    await trio.edit(plan, "later");
    await plan.restoreCheckpoint("new");
    expect((await plan.commit()).outcome).toBe("committed");
    expect([...trio.pages(), engine.fileIn(KEPT, "/etc/page")]).toEqual([
      "new\n",
      "new\n",
      "new\n",
      "new",
    ]);
    await plan.undo();
    expect(trio.pages()).toEqual(["old\n", "old\n", "old\n"]);
    expect(engine.left()).not.toContain(KEPT);
    await plan.commit();
    await plan.cleanup();
    expect(trio.pages()).toEqual(["new\n", "new\n", "new\n"]);
    expect(engine.left()).toEqual([KEPT]);
    engine.ask("rmi", KEPT);
  });

  it.each(order)("changes nothing when %s fails", async (failing) => {
    const trio = new Trio();
    await using cofferdam = await trio.site.open({ keep: KEPT });
    const plan = await trio.plan(cofferdam, order);
    shell(trio.folders[failing], "echo foreign > page");
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: failing } },
    });
    expect(trio.pages()).toEqual(MEMBERS.map((id) => (id === failing ? "foreign\n" : "old\n")));
    expect(engine.left()).not.toContain(KEPT);
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });
});
