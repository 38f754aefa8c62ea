import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cofferdam, type Plan, openCofferdam } from "cofferdam";
import { tempFolder } from "../../../test/support/temp.ts";
import { writeConfiguration } from "./configuration.ts";
import type { Served } from "./server.ts";

/** The kinds of resources in a plan. */
export const MEMBERS = ["directory", "git", "bucket"] as const;
export type Member = (typeof MEMBERS)[number];

const OLD = { page: "old\n", gone: "old\n" };
const NEW = { page: "new\n", added: "new\n" };

/** A directory, a repository and a bucket, each with the files `page` and `gone`. */
export class Trio {
  readonly folder = tempFolder();
  readonly config: string;
  readonly bucket: string;
  readonly #served: Served;

  private constructor(served: Served, bucket: string, endpoint: string) {
    this.#served = served;
    this.bucket = bucket;
    const { credentialsFile } = served.server;
    this.config = writeConfiguration(this.folder, { endpoint, credentialsFile });
    for (const name of ["directory", "git"] as const) {
      mkdirSync(this.#folderOf(name));
      for (const [file, text] of Object.entries(OLD))
        writeFileSync(join(this.#folderOf(name), file), text);
    }
    const setUp =
      "git init -qb main; git config user.name T; git config user.email t@example.invalid";
    run(this.#folderOf("git"), `${setUp}; git add -A; git commit -qm first`);
  }

  /** All three in their old state; the bucket is reached through `endpoint`, where one is given. */
  static async make(served: Served, endpoint = served.server.endpoint): Promise<Trio> {
    return new Trio(served, await served.buckets.make(OLD), endpoint);
  }

  get stateDirectory(): string {
    return join(this.folder, "state");
  }

  open(): Promise<Cofferdam> {
    return openCofferdam({ stateDirectory: this.stateDirectory, config: this.config });
  }

  /** A plan over all three in this order, with everything edited. */
  async plan(cofferdam: Cofferdam, order: readonly Member[] = MEMBERS): Promise<Plan> {
    const types = { directory: "fs-directory", git: "git-repository", bucket: "bucket" } as const;
    const locationOf = (id: Member): string =>
      id === "bucket" ? `s3://${this.bucket}` : this.#folderOf(id);
    const plan = await cofferdam.plan(
      "trio",
      order.map((id) => ({ id, type: types[id], location: locationOf(id) })),
    );
    for (const id of order) {
      for (const [path, text] of Object.entries(NEW)) await plan.sandbox(id).write(path, text);
      await plan.sandbox(id).remove("gone");
    }
    return plan;
  }

  /** Somebody else changes one of them. */
  async disturb(member: Member): Promise<void> {
    if (member === "bucket") await this.#served.buckets.put(this.bucket, "page", "foreign\n");
    else writeFileSync(join(this.#folderOf(member), "page"), "foreign\n");
  }

  /** What each of them is: old, new, or the text of its page when it is neither. */
  async states(): Promise<Record<Member, string>> {
    const bucket = await this.#served.buckets.texts(this.bucket);
    const [directory, git] = (["directory", "git"] as const).map((id) =>
      textsIn(this.#folderOf(id)),
    );
    return { directory: named(directory!), git: named(git!), bucket: named(bucket) };
  }

  #folderOf(member: "directory" | "git"): string {
    return join(this.folder, member);
  }
}

function textsIn(folder: string): Record<string, string> {
  const names = run(folder, "ls")
    .split("\n")
    .filter((name) => name !== "");
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function named(texts: Readonly<Record<string, string>>): string {
  const linesOf = (one: Readonly<Record<string, string>>): string =>
    Object.entries(one)
      .map((pair) => pair.join(" "))
      .sort()
      .join();
  if (linesOf(texts) === linesOf(OLD)) return "old";
  if (linesOf(texts) === linesOf(NEW)) return "new";
  return texts["page"] ?? "nothing";
}

function run(folder: string, script: string): string {
  return execFileSync("sh", ["-euc", script], { cwd: folder, encoding: "utf8" });
}
