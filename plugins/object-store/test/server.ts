import { afterAll, beforeAll } from "vitest";
import { CephServer } from "../../../test/support/ceph-server.ts";
import { Buckets } from "./buckets.ts";

const MINUTE = 60_000;

/** A server that all tests of a file share, and what others do in its buckets. */
export interface Served {
  readonly server: CephServer;
  readonly buckets: Buckets;
}

/** Starts a server before the first test of a file and ends it after the last. */
export function useServer(): () => Served {
  let served: Served | undefined;
  beforeAll(async () => {
    const server = await CephServer.start();
    served = { server, buckets: new Buckets(server) };
  }, 2 * MINUTE);
  afterAll(async () => {
    served?.buckets.close();
    await served?.server[Symbol.asyncDispose]();
  });
  return () => {
    if (served === undefined) throw new Error("the server is started before the first test");
    return served;
  };
}
