import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AtomicCommitError, type Cofferdam, type Plan } from "cofferdam";
import { afterAll, describe, expect, it } from "vitest";
import { mountFileSystem } from "../../../test/support/loop.ts";
import { Site, run } from "./sandbox.ts";

const disk = mountFileSystem("btrfs", { megabytes: 600 });
afterAll(() => disk[Symbol.asyncDispose]());

const MEMBERS = ["directory", "git", "btrfs"] as const;
type Member = (typeof MEMBERS)[number];

/** A directory, a repository and a subvolume, each with a file `page`. */
class Trio {
  readonly site = new Site(disk.mountPoint);
  readonly folders: Readonly<Record<Member, string>>;

  constructor() {
    const { folder, root } = this.site;
    this.folders = { directory: join(folder, "directory"), git: join(folder, "git"), btrfs: root };
    for (const name of ["directory", "git"] as const) mkdirSync(this.folders[name]);
    for (const place of Object.values(this.folders)) writeFileSync(join(place, "page"), "old\n");
    run(
      this.folders.git,
      "git init -qb main; git config user.name T; git config user.email t@example.invalid; git add -A; git commit -qm first",
    );
  }

  /** A plan over all three in this order, with every page edited. */
  async plan(cofferdam: Cofferdam, order: readonly Member[]): Promise<Plan> {
    const kinds = {
      directory: { type: "fs-directory" },
      git: { type: "git-repository" },
      btrfs: { type: "fs-directory", sandboxStrategy: "btrfs_snapshot" },
    } as const;
    const resources = order.map((id) => ({ id, location: this.folders[id], ...kinds[id] }));
    const plan = await cofferdam.plan("trio", resources);
    for (const id of order) await plan.sandbox(id).write("page", "new\n");
    return plan;
  }

  pages(): string[] {
    return MEMBERS.map((name) => run(this.folders[name], "cat page"));
  }
}

const ORDERS: readonly (readonly Member[])[] = [
  ["btrfs", "directory", "git"],
  ["directory", "btrfs", "git"],
  ["directory", "git", "btrfs"],
];

describe.each(ORDERS)("a plan over %s, %s and %s", (...order) => {
  it("is committed, taken back, checkpointed and restored as one", async () => {
    const trio = new Trio();
    await using cofferdam = await trio.site.open();
    const plan = await trio.plan(cofferdam, order);
    await plan.checkpoint("new");
    for (const id of order) await plan.sandbox(id).write("page", "later\n");
    await plan.restoreCheckpoint("new");
    expect((await plan.commit()).outcome).toBe("committed");
    expect(trio.pages()).toEqual(["new\n", "new\n", "new\n"]);
    await plan.undo();
    expect(trio.pages()).toEqual(["old\n", "old\n", "old\n"]);
    await plan.commit();
    await plan.cleanup();
    expect(trio.pages()).toEqual(["new\n", "new\n", "new\n"]);
    expect(trio.site.subvolumes()).toEqual(["./root"]);
  });

  it.each(order)("changes nothing when %s fails", async (failing) => {
    const trio = new Trio();
    await using cofferdam = await trio.site.open();
    const plan = await trio.plan(cofferdam, order);
    run(trio.folders[failing], "echo foreign > page");
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: failing } },
    });
    expect(trio.pages()).toEqual(MEMBERS.map((id) => (id === failing ? "foreign\n" : "old\n")));
    await plan.cleanup();
  });
});
