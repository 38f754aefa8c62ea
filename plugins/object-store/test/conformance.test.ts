import { runConformance } from "cofferdam/testing";
import { afterAll } from "vitest";
import { CephServer } from "../../../test/support/ceph-server.ts";
import { kitRunner } from "../../../test/support/kit-runner.ts";
import { Buckets } from "./buckets.ts";
import { bucketSubject } from "./subject.ts";

const server = await CephServer.start();
const buckets = new Buckets(server);
afterAll(async () => {
  buckets.close();
  await server[Symbol.asyncDispose]();
});

await runConformance(
  kitRunner,
  bucketSubject(
    () => server,
    () => buckets,
  ),
);
