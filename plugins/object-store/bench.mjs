// Usage: bench.mjs --endpoint URL --credentials-file FILE [--objects N,N,…] [--rounds N] — sandboxes of a bucket beside the
// same requests by hand. Makes buckets of its own on the server, and leaves them there.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { S3 } from "@aws-sdk/client-s3";
import { fromIni } from "@aws-sdk/credential-provider-ini";
import { openCofferdam } from "cofferdam";
import { median, timed } from "../../bench/measure.mjs";

const { values } = parseArgs({
  options: {
    endpoint: { type: "string" },
    "credentials-file": { type: "string" },
    objects: { type: "string", default: "1000,10000" },
    rounds: { type: "string", default: "9" },
  },
});
const { endpoint, "credentials-file": credentialsFile } = values;
const rounds = Number(values.rounds);
const EDITED = 20;
const AT_ONCE = 16;
const folder = mkdtempSync(join(tmpdir(), "cofferdam-bench-"));
const client = new S3({
  endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  credentials: fromIni({ filepath: credentialsFile }),
  requestChecksumCalculation: "WHEN_REQUIRED",
});

async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const keyOf = (at) => `folder-${at % 50}/object-${at}.txt`;
const bodyOf = (at, round) => `object ${at} of round ${round}\n`.repeat(20);

async function makeBucket(size) {
  const Bucket = `bench-${size}-${Date.now()}`;
  await client.createBucket({ Bucket });
  await client.putBucketVersioning({ Bucket, VersioningConfiguration: { Status: "Enabled" } });
  await inParallel(size, (at) => client.putObject({ Bucket, Key: keyOf(at), Body: bodyOf(at, 0) }));
  return Bucket;
}

function openCoffer() {
  const plugin = fileURLToPath(new URL(".", import.meta.url));
  const config = join(folder, "cofferdam.yaml");
  const options = { endpoint, credentials_file: credentialsFile };
  const module = join(plugin, "src/strategy.ts");
  const strategies = { object_store: { module, class: "ObjectStoreStrategy", options } };
  const sandbox = { plugin_roots: [plugin], custom_strategies: strategies };
  const types = { bucket: { sandbox_strategy: "object_store" } };
  writeFileSync(config, JSON.stringify({ sandbox, resource_types: types }));
  return openCofferdam({ stateDirectory: join(folder, "state"), config });
}

async function measure(coffer, size, times) {
  const bucket = await makeBucket(size);
  const note = async (name, work) => {
    const key = `${name} ${size}`;
    times.set(key, [...(times.get(key) ?? []), await timed(work)]);
  };
  for (let round = 1; round <= rounds; round++) {
    const put = (at) =>
      client.putObject({ Bucket: bucket, Key: keyOf(at), Body: bodyOf(at, -round) });
    await note("by hand", () => inParallel(EDITED, put));
    let sandbox;
    await note("create", async () => {
      const resource = { resourceId: "bucket", type: "bucket", location: `s3://${bucket}` };
      sandbox = coffer.sandbox(await coffer.create(`bench-${size}-${round}`, resource));
    });
    await note("write", async () => {
      for (let at = 0; at < EDITED; at++) await sandbox.write(keyOf(at), bodyOf(at, round));
    });
    await note("diff", () => sandbox.diff());
    await note("commit", () => sandbox.commit());
    await note("undoCommit", () => sandbox.undoCommit());
    await sandbox.cleanup();
  }
}

const times = new Map();
const coffer = await openCoffer();
try {
  for (const size of values.objects.split(",").map(Number)) await measure(coffer, size, times);
  for (const [name, list] of times)
    process.stdout.write(`${name}: ${median(list).toFixed(1)} ms\n`);
} finally {
  await coffer.close();
  client.destroy();
  rmSync(folder, { recursive: true });
}
