import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Resource, openCofferdam } from "cofferdam";
import type {
  ConformanceSession,
  ConformanceSubject,
  OutsideAccess,
  SampleTree,
} from "cofferdam/testing";
import type { CephServer } from "../../../test/support/ceph-server.ts";
import type { Buckets } from "./buckets.ts";
import { writeConfiguration } from "./configuration.ts";

/** The kit's subject: every resource is a bucket of its own. */
export function bucketSubject(
  server: () => CephServer,
  buckets: () => Buckets,
): ConformanceSubject {
  const open = (): Promise<ConformanceSession> => openSession(server(), buckets());
  return { name: "object_store", strategyName: "object_store", open };
}

async function openSession(server: CephServer, buckets: Buckets): Promise<ConformanceSession> {
  const folder = mkdtempSync(join(tmpdir(), "cofferdam-conformance-"));
  const stateDirectory = join(folder, "state");
  const options = { stateDirectory, config: writeConfiguration(folder, server) };
  const cofferdam = await openCofferdam(options);
  let made = 0;
  return {
    cofferdam,
    options,
    folder,
    privateFolders: [stateDirectory],
    outside: outsideOf(folder, buckets),
    makeResource: async (tree) => {
      made += 1;
      const bucket = await buckets.make(filesOf(tree));
      return { resourceId: `resource-${made}`, type: "bucket", location: `s3://${bucket}` };
    },
    [Symbol.asyncDispose]: async () => {
      await cofferdam.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function filesOf(tree: SampleTree): Record<string, string | Uint8Array> {
  const files: Record<string, string | Uint8Array> = {};
  for (const [path, entry] of Object.entries(tree)) {
    if (typeof entry === "string" || entry instanceof Uint8Array) files[path] = entry;
    else if ("content" in entry) files[path] = entry.content;
  }
  return files;
}

function outsideOf(below: string, buckets: Buckets): OutsideAccess {
  return {
    run: async (resource, script) => {
      const bucket = nameOf(resource);
      const folder = mkdtempSync(join(below, "mirror-"));
      const before = await download(buckets, bucket, folder);
      const output = execFileSync("sh", ["-euc", script], { cwd: folder, encoding: "utf8" });
      await upload(buckets, bucket, folder, before);
      return output;
    },
    snapshot: (resource) => buckets.snapshot(nameOf(resource)),
    identities: (resource) => buckets.identities(nameOf(resource)),
  };
}

async function download(
  buckets: Buckets,
  bucket: string,
  folder: string,
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  for (const key of await buckets.keys(bucket)) {
    const content = await buckets.bytes(bucket, key);
    contents.set(key, content);
    mkdirSync(dirname(join(folder, key)), { recursive: true });
    writeFileSync(join(folder, key), content);
  }
  return contents;
}

async function upload(
  buckets: Buckets,
  bucket: string,
  folder: string,
  before: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const keys = files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
  for (const key of keys) {
    const content = readFileSync(join(folder, key));
    if (before.get(key)?.equals(content) !== true) await buckets.put(bucket, key, content);
  }
  for (const key of before.keys()) if (!keys.includes(key)) await buckets.remove(bucket, key);
}

function nameOf({ location }: Resource): string {
  return location.slice("s3://".length);
}
