import type { Bucket } from "./bucket.ts";
import type { Clients } from "./open-client.ts";
import type { StoreSettings } from "./settings.ts";

/** The clients that are kept for the next call, one for each server. */
export class Stores {
  readonly #clients = new Map<string, Promise<Clients>>();

  /** A bucket of the server of these settings. The client library is loaded when it is first needed. */
  async bucket(settings: StoreSettings, name: string): Promise<Bucket> {
    const { contentTypes: _, ...server } = settings;
    const { endpoint, region, profile, credentialsFile, pathStyle } = server;
    const key = JSON.stringify([endpoint, region, profile, credentialsFile, pathStyle]);
    const { Bucket: BucketClass } = await import("./bucket.ts");
    const clients = this.#clients.get(key) ?? opened(server);
    this.#clients.set(key, clients);
    return new BucketClass(await clients, name);
  }

  /** Ends all connections; a later call makes new ones. */
  async close(): Promise<void> {
    const all = [...this.#clients.values()];
    this.#clients.clear();
    for (const clients of all) {
      const { patient, once } = await clients;
      patient.destroy();
      once.destroy();
    }
  }
}

async function opened(settings: StoreSettings): Promise<Clients> {
  const { openClients } = await import("./open-client.ts");
  return openClients(settings);
}
