import { join } from "node:path";
import { type Cofferdam, type Sandbox, openCofferdam } from "cofferdam";
import { tempFolder } from "../../../test/support/temp.ts";
import { writeConfiguration } from "./configuration.ts";
import type { Served } from "./server.ts";

/** A bucket with some objects, and an installation that knows the strategy. */
export class Site {
  readonly folder = tempFolder();
  readonly config: string;
  readonly bucket: string;
  readonly #served: Served;

  private constructor(served: Served, bucket: string) {
    this.#served = served;
    this.bucket = bucket;
    this.config = writeConfiguration(this.folder, served.server);
  }

  static async make(
    served: Served,
    objects: Readonly<Record<string, string>> = { "a.txt": "alpha\n", "docs/guide.md": "guide\n" },
  ): Promise<Site> {
    return new Site(served, await served.buckets.make(objects));
  }

  get stateDirectory(): string {
    return join(this.folder, "state");
  }

  open(): Promise<Cofferdam> {
    return openCofferdam({ stateDirectory: this.stateDirectory, config: this.config });
  }

  /** A sandbox of the bucket, or of a part of it, in a plan of its own. */
  async sandbox(cofferdam: Cofferdam, planId = "plan", prefix = ""): Promise<Sandbox> {
    const location = `s3://${this.bucket}${prefix === "" ? "" : `/${prefix}`}`;
    const resource = { resourceId: "site", type: "bucket", location } as const;
    return cofferdam.sandbox(await cofferdam.create(planId, resource));
  }

  /** What others find in the bucket. */
  texts(): Promise<Record<string, string>> {
    return this.#served.buckets.texts(this.bucket);
  }
}

/** The text of an object as a sandbox shows it. */
export async function textIn(sandbox: Sandbox, path: string): Promise<string> {
  return Buffer.from(await sandbox.read(path)).toString("utf8");
}
