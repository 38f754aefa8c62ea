import type { S3Client } from "@aws-sdk/client-s3";
import type { Bucket } from "./bucket.ts";
import type { StoreSettings } from "./settings.ts";

/** The clients that are kept for the next call, one for each server. */
export class Stores {
  readonly #clients = new Map<string, Promise<S3Client>>();

  /** A bucket of the server of these settings. The client library is loaded when it is first needed. */
  async bucket(settings: StoreSettings, name: string): Promise<Bucket> {
    const { contentTypes: _, ...server } = settings;
    const { endpoint, region, profile, credentialsFile, pathStyle } = server;
    const key = JSON.stringify([endpoint, region, profile, credentialsFile, pathStyle]);
    const { Bucket: BucketClass } = await import("./bucket.ts");
    const client = this.#clients.get(key) ?? opened(server);
    this.#clients.set(key, client);
    return new BucketClass(await client, name);
  }

  /** Ends all connections; a later call makes new ones. */
  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    for (const client of clients) (await client).destroy();
  }
}

async function opened(settings: StoreSettings): Promise<S3Client> {
  const { openClient } = await import("./open-client.ts");
  return openClient(settings);
}
