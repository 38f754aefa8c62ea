import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Json, type Sandbox, type SandboxStrategy, unguarded } from "cofferdam";
import type { Cofferdam, TransactionPart } from "cofferdam";
import { describe, expect, it } from "vitest";
import { useServer } from "./server.ts";
import { Site } from "./site.ts";

const served = useServer();

/** The single phases of a transaction with one member, which a crash can come between. */
class Phases {
  readonly #strategy: Required<SandboxStrategy>;
  readonly #sandbox: Sandbox;
  #part: TransactionPart;

  private constructor(strategy: SandboxStrategy, sandbox: Sandbox, kind: TransactionPart["kind"]) {
    this.#strategy = strategy as Required<SandboxStrategy>;
    this.#sandbox = sandbox;
    const ulid = kind === "commit" ? "01K0COMMIT0000000000000000" : "01K0UNDO000000000000000000";
    this.#part = { gid: `coffer1:test:${ulid}`, ulid, member: 0, kind, record: null };
  }

  static async of(
    cofferdam: Cofferdam,
    sandbox: Sandbox,
    kind: TransactionPart["kind"] = "commit",
  ): Promise<Phases> {
    return new Phases(unguarded(await cofferdam.strategyFor(sandbox.ref)), sandbox, kind);
  }

  async prepare(): Promise<void> {
    const record = await this.#strategy.prepare(this.#sandbox.ref, this.#part);
    this.#part = { ...this.#part, record: JSON.parse(JSON.stringify(record)) as Json };
  }

  fence = (): Promise<void> => this.#strategy.fence(this.#sandbox.ref, this.#part);
  reverse = (): Promise<void> => this.#strategy.reversePrepared(this.#sandbox.ref, this.#part);
  abandon = (): Promise<void> => this.#strategy.abandonPrepared(this.#sandbox.ref, this.#part);
  apply = (recovering = false): ReturnType<Required<SandboxStrategy>["commitPrepared"]> =>
    this.#strategy.commitPrepared(this.#sandbox.ref, { ...this.#part, recovering });
}

/** A sandbox with an edit of each kind. */
async function edited(): Promise<{ site: Site; cofferdam: Cofferdam; sandbox: Sandbox }> {
  const site = await Site.make(served());
  const cofferdam = await site.open();
  const sandbox = await site.sandbox(cofferdam);
  await sandbox.write("a.txt", "mine\n");
  await sandbox.write("new.txt", "mine\n");
  await sandbox.remove("docs/guide.md");
  return { site, cofferdam, sandbox };
}

describe("between the last look and the publication", () => {
  it("what others put there is kept as an earlier version, told, and comes back by an undo", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const { buckets } = served();
    const phases = await Phases.of(cofferdam, sandbox);
    await phases.prepare();
    await phases.fence();
    const theirs = await buckets.put(site.bucket, "a.txt", "theirs\n");
    const { warnings } = await phases.apply();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.includes(theirs)).toBe(true);
    expect(await buckets.read(site.bucket, "a.txt")).toBe("mine\n");
    await phases.reverse();
    expect(await site.texts()).toEqual({ "a.txt": "theirs\n", "docs/guide.md": "guide\n" });
  });

  it("what others deleted stays deleted by them, whatever becomes of the commit", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const phases = await Phases.of(cofferdam, sandbox);
    await phases.prepare();
    await phases.fence();
    await served().buckets.remove(site.bucket, "docs/guide.md");
    await phases.apply();
    await phases.reverse();
    expect(await site.texts()).toEqual({ "a.txt": "alpha\n" });
  });

  it("what others did long before recovery stays on top, and is told", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const { buckets } = served();
    const phases = await Phases.of(cofferdam, sandbox);
    await phases.prepare();
    await phases.fence();
    for (const key of ["a.txt", "docs/guide.md"]) await buckets.put(site.bucket, key, "theirs\n");
    const { warnings } = await phases.apply(true);
    expect(warnings).toHaveLength(2);
    expect(await site.texts()).toEqual({
      "a.txt": "theirs\n",
      "docs/guide.md": "theirs\n",
      "new.txt": "mine\n",
    });
  });
});

describe("what is prepared", () => {
  it("is sent again when the server has thrown it away meanwhile", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const { buckets } = served();
    const phases = await Phases.of(cofferdam, sandbox);
    await phases.prepare();
    expect((await buckets.uploads(site.bucket)).sort()).toEqual(["a.txt", "new.txt"]);
    await buckets.abortUploads(site.bucket);
    await phases.apply();
    expect(await site.texts()).toEqual({ "a.txt": "mine\n", "new.txt": "mine\n" });
    await phases.reverse();
    await phases.abandon();
    expect(await buckets.uploads(site.bucket)).toEqual([]);
  });

  it("is thrown away alone: uploads of others to the same keys stay", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const { buckets } = served();
    await buckets.beginUpload(site.bucket, "a.txt");
    const phases = await Phases.of(cofferdam, sandbox);
    await phases.prepare();
    await phases.abandon();
    expect(await buckets.uploads(site.bucket)).toEqual(["a.txt"]);
  });
});

describe("an undo that is taken back itself", () => {
  it("publishes everything again, and can be tried once more", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    const { buckets } = served();
    const before = await buckets.history(site.bucket);
    await sandbox.commit();
    const phases = await Phases.of(cofferdam, sandbox, "undo");
    await phases.prepare();
    await phases.fence();
    await phases.apply();
    await phases.apply();
    expect(await buckets.history(site.bucket)).toEqual(before);
    await phases.reverse();
    await phases.reverse();
    await phases.abandon();
    expect(await site.texts()).toEqual({ "a.txt": "mine\n", "new.txt": "mine\n" });
    expect(await buckets.uploads(site.bucket)).toEqual([]);
    await sandbox.rollback();
    expect(await buckets.history(site.bucket)).toEqual(before);
  });
});

describe("a sandbox that lives long", () => {
  it("keeps nothing of transactions that are past", async () => {
    const { site, cofferdam, sandbox } = await edited();
    await using _closed = cofferdam;
    for (let round = 0; round < 3; round += 1) {
      await sandbox.write("a.txt", `round ${round}\n`);
      await sandbox.commit();
      await sandbox.rollback();
    }
    const [id = ""] = readdirSync(join(site.stateDirectory, "buckets"));
    const folder = join(site.stateDirectory, "buckets", id);
    expect(readdirSync(join(folder, "transactions"))).toEqual([]);
    expect(readdirSync(join(folder, "contents"))).toEqual([]);
  });
});
