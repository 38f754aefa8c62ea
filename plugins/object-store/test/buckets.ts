import { createHash, randomBytes } from "node:crypto";
import { S3 } from "@aws-sdk/client-s3";
import type { PutObjectCommandInput } from "@aws-sdk/client-s3";
import type { CephServer } from "../../../test/support/ceph-server.ts";

/** One entry in the history of a bucket, newest first within a key. */
export interface BucketVersion {
  readonly key: string;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
}

/** What others do in the buckets of a server, with a client of their own. */
export class Buckets {
  readonly #client: S3;

  constructor({ endpoint, keyId, secret }: CephServer) {
    process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
    this.#client = new S3({
      endpoint,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: { accessKeyId: keyId, secretAccessKey: secret },
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  }

  /** Makes a bucket with these objects. */
  async make(
    objects: Readonly<Record<string, string | Uint8Array>> = {},
    versioning: "Enabled" | "Suspended" | "never" = "Enabled",
  ): Promise<string> {
    const Bucket = `b-${randomBytes(8).toString("hex")}`;
    await this.#client.createBucket({ Bucket });
    if (versioning !== "never") await this.setVersioning(Bucket, versioning);
    await Promise.all(
      Object.entries(objects).map(([key, content]) => this.put(Bucket, key, content)),
    );
    return Bucket;
  }

  async setVersioning(Bucket: string, Status: "Enabled" | "Suspended"): Promise<void> {
    await this.#client.putBucketVersioning({ Bucket, VersioningConfiguration: { Status } });
  }

  /** Gives an object a new version and tells its id. */
  async put(
    Bucket: string,
    Key: string,
    Body: string | Uint8Array,
    more: Partial<PutObjectCommandInput> = {},
  ): Promise<string> {
    const ContentLength = Buffer.byteLength(Body);
    const put = { Bucket, Key, Body, ContentLength, ...more };
    const { VersionId } = await this.#client.putObject(put);
    return VersionId ?? "";
  }

  async remove(Bucket: string, Key: string): Promise<string> {
    return (await this.#client.deleteObject({ Bucket, Key })).VersionId ?? "";
  }

  async removeVersion(Bucket: string, Key: string, VersionId: string): Promise<void> {
    await this.#client.deleteObject({ Bucket, Key, VersionId });
  }

  async read(Bucket: string, Key: string): Promise<string> {
    return (await this.bytes(Bucket, Key)).toString("utf8");
  }

  async bytes(Bucket: string, Key: string): Promise<Buffer> {
    const { Body } = await this.#client.getObject({ Bucket, Key });
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }

  /** Media type, caching, metadata and tags of an object. */
  async properties(Bucket: string, Key: string): Promise<Record<string, unknown>> {
    const { ContentType, CacheControl, Metadata } = await this.#client.headObject({ Bucket, Key });
    const { TagSet } = await this.#client.getObjectTagging({ Bucket, Key });
    return { ContentType, CacheControl, Metadata, TagSet };
  }

  /** All present objects: key and text. */
  async texts(Bucket: string): Promise<Record<string, string>> {
    const keys = await this.keys(Bucket);
    const texts = await Promise.all(keys.map((key) => this.read(Bucket, key)));
    return Object.fromEntries(keys.map((key, at) => [key, texts[at] ?? ""]));
  }

  /** The keys of all present objects. */
  async keys(Bucket: string, Prefix = ""): Promise<string[]> {
    const { Contents } = await this.#client.listObjectsV2({ Bucket, Prefix });
    return (Contents ?? []).flatMap(({ Key }) => Key ?? []);
  }

  /** All versions and markers that a bucket keeps. */
  async history(Bucket: string, Prefix = ""): Promise<BucketVersion[]> {
    const { Versions, DeleteMarkers } = await this.#client.listObjectVersions({ Bucket, Prefix });
    const entries = [
      ...(Versions ?? []).map((one) => ({ ...one, isMarker: false })),
      ...(DeleteMarkers ?? []).map((one) => ({ ...one, isMarker: true })),
    ];
    return entries.map(({ Key, VersionId, IsLatest, isMarker }) => ({
      key: Key ?? "",
      versionId: VersionId ?? "",
      isLatest: IsLatest ?? false,
      isMarker,
    }));
  }

  /** The id of the present version of every object. */
  async identities(Bucket: string): Promise<Map<string, string>> {
    const history = await this.history(Bucket);
    const present = history.filter(({ isLatest, isMarker }) => isLatest && !isMarker);
    return new Map(present.map(({ key, versionId }) => [key, versionId]));
  }

  /** Digest and media type of every present object. */
  async snapshot(Bucket: string): Promise<Map<string, string>> {
    const keys = await this.keys(Bucket);
    const rows = keys.map(async (key): Promise<[string, string]> => {
      const [content, { ContentType }] = await Promise.all([
        this.bytes(Bucket, key),
        this.#client.headObject({ Bucket, Key: key }),
      ]);
      return [key, `${createHash("sha256").update(content).digest("hex")} ${ContentType}`];
    });
    return new Map(await Promise.all(rows));
  }

  /** Uploads that were begun and neither completed nor thrown away. */
  async uploads(Bucket: string): Promise<string[]> {
    const { Uploads } = await this.#client.listMultipartUploads({ Bucket });
    return (Uploads ?? []).flatMap(({ Key }) => Key ?? []);
  }

  /** Begins an upload, as any program may. */
  async beginUpload(Bucket: string, Key: string): Promise<void> {
    await this.#client.createMultipartUpload({ Bucket, Key });
  }

  /** Throws all uploads away, as servers do after some days. */
  async abortUploads(Bucket: string): Promise<void> {
    const { Uploads } = await this.#client.listMultipartUploads({ Bucket });
    for (const { Key, UploadId } of Uploads ?? [])
      await this.#client.abortMultipartUpload({ Bucket, Key, UploadId });
  }

  close(): void {
    this.#client.destroy();
  }
}
