import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectVersionsCommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import type { Clients } from "./open-client.ts";
import { HEADERS, MADE_BY } from "./object-state.ts";
import type { ObjectProperties, ObjectVersion } from "./object-state.ts";
import { isStoreProblem, storeError } from "./store-error.ts";

/** One entry in the history of a key. */
export interface HistoryEntry {
  readonly versionId: string;
  /** Whether it says that the object was deleted. */
  readonly isMarker: boolean;
}

/** One page of a listing. */
export interface ListedPage {
  readonly keys: readonly string[];
  /** What further keys begin with, up to the next slash; only when folders were asked for. */
  readonly folders: readonly string[];
}

/** An upload whose parts are on the server and that nobody sees before it is completed. */
export interface Upload {
  readonly id: string;
  /** The tags of the parts, in order. */
  readonly parts: readonly string[];
}

/** What the key has to have for a conditional completion: this tag, or nothing at all. */
export type Condition = { readonly IfMatch: string } | { readonly IfNoneMatch: "*" };

/** The requests to one bucket. Every failure is an `ObjectStoreError`. */
export class Bucket {
  readonly name: string;
  readonly #client: S3Client;
  readonly #once: S3Client;

  constructor({ patient, once }: Clients, name: string) {
    this.#client = patient;
    this.#once = once;
    this.name = name;
  }

  /** Whether old versions are kept. */
  async isVersioned(): Promise<boolean | "suspended"> {
    const { Status } = await this.#send("GetBucketVersioning", "", () =>
      this.#client.send(new GetBucketVersioningCommand({ Bucket: this.name })),
    );
    return Status === "Suspended" ? "suspended" : Status === "Enabled";
  }

  /** The present version of an object, or a given one, without its content; null when there is none. */
  async head(key: string, versionId?: string): Promise<ObjectVersion | null> {
    const found = await this.#unlessMissing("HeadObject", key, () =>
      this.#client.send(new HeadObjectCommand(this.#at(key, versionId))),
    );
    return found && this.#versionOf(key, found, null);
  }

  /** The same with its content. */
  async get(
    key: string,
    versionId?: string,
  ): Promise<{ readonly version: ObjectVersion; readonly content: Buffer } | null> {
    const found = await this.#unlessMissing("GetObject", key, async () => {
      const answer = await this.#client.send(new GetObjectCommand(this.#at(key, versionId)));
      return { answer, content: Buffer.from((await answer.Body?.transformToByteArray()) ?? []) };
    });
    if (found === null) return null;
    const hash = createHash("sha256").update(found.content).digest("hex");
    return { version: await this.#versionOf(key, found.answer, hash), content: found.content };
  }

  /** The transaction that made a version; null for those of others. */
  async makerOf(key: string, versionId: string): Promise<string | null> {
    const found = await this.#unlessMissing("HeadObject", key, () =>
      this.#client.send(new HeadObjectCommand(this.#at(key, versionId))),
    );
    return found?.Metadata?.[MADE_BY] ?? null;
  }

  /** The keys that begin with a prefix, in order; with `folders` only up to the next slash. */
  async *list(prefix: string, folders: boolean, pageSize = 1000): AsyncGenerator<ListedPage> {
    let token: string | undefined;
    do {
      const page = await this.#send("ListObjectsV2", prefix, () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.name,
            Prefix: prefix,
            MaxKeys: pageSize,
            ...(folders && { Delimiter: "/" }),
            ContinuationToken: token,
          }),
        ),
      );
      yield {
        keys: (page.Contents ?? []).flatMap(({ Key }) => Key ?? []),
        folders: (page.CommonPrefixes ?? []).flatMap(({ Prefix }) => Prefix ?? []),
      };
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** The present versions of all objects whose keys begin with a prefix. */
  async *versions(prefix: string): AsyncGenerator<readonly [key: string, ObjectVersion]> {
    let from: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
    while (from !== undefined) {
      const page = await this.#history(prefix, { ...from });
      for (const { Key: key, VersionId, ETag, Size, LastModified, IsLatest } of page.Versions ??
        []) {
        if (key === undefined || VersionId === undefined || IsLatest !== true) continue;
        const modified = (LastModified ?? new Date(0)).toISOString();
        const about = { etag: ETag ?? "", size: Size ?? 0, modified };
        yield [key, { versionId: VersionId, ...about, hash: null, properties: null }];
      }
      const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
      from =
        page.IsTruncated === true && KeyMarker !== undefined
          ? { KeyMarker, ...(VersionIdMarker !== undefined && { VersionIdMarker }) }
          : undefined;
    }
  }

  /** The newest entry in the history of a key, or the one directly below another; null when there is none. */
  async historyOf(key: string, below?: string): Promise<HistoryEntry | null> {
    const from = below === undefined ? {} : { KeyMarker: key, VersionIdMarker: below };
    const page = await this.#history(key, { ...from, MaxKeys: 1 });
    const version = page.Versions?.[0];
    const found = version ?? page.DeleteMarkers?.[0];
    if (found?.Key !== key || found.VersionId === undefined) return null;
    return { versionId: found.VersionId, isMarker: version === undefined };
  }

  /** Begins an upload that nobody sees; every request begins one. */
  async beginUpload(key: string, properties: ObjectProperties, maker: string): Promise<string> {
    const { headers, metadata, tags } = properties;
    const { UploadId } = await this.#send("CreateMultipartUpload", key, () =>
      this.#once.send(
        new CreateMultipartUploadCommand({
          ...this.#at(key),
          ...headers,
          StorageClass: headers.StorageClass as "STANDARD" | undefined,
          Metadata: { ...metadata, [MADE_BY]: maker },
          ...(Object.keys(tags).length > 0 && { Tagging: `${new URLSearchParams(tags)}` }),
        }),
      ),
    );
    return UploadId ?? "";
  }

  /** Sends one part, counted from 1, and gives its tag. */
  async uploadPart(key: string, id: string, number: number, content: Uint8Array): Promise<string> {
    const { ETag } = await this.#send("UploadPart", key, () =>
      this.#client.send(
        new UploadPartCommand({
          ...this.#at(key),
          UploadId: id,
          PartNumber: number,
          Body: content,
          ContentLength: content.length,
        }),
      ),
    );
    return ETag ?? "";
  }

  /** Makes an upload the present version. However often it is done, one version comes of it. */
  async complete(key: string, upload: Upload, condition?: Condition): Promise<string | null> {
    const Parts = upload.parts.map((ETag, at) => ({ PartNumber: at + 1, ETag }));
    const { VersionId } = await this.#send("CompleteMultipartUpload", key, () =>
      this.#client.send(
        new CompleteMultipartUploadCommand({
          ...this.#at(key),
          UploadId: upload.id,
          MultipartUpload: { Parts },
          ...condition,
        }),
      ),
    );
    return VersionId ?? null;
  }

  /** Throws an upload away; one that is gone already is fine. */
  async abort(key: string, id: string): Promise<void> {
    try {
      await this.#send("AbortMultipartUpload", key, () =>
        this.#client.send(new AbortMultipartUploadCommand({ ...this.#at(key), UploadId: id })),
      );
    } catch (thrown) {
      if (!isStoreProblem(thrown, "noUpload", "missing")) throw thrown;
    }
  }

  /** How many parts of an upload have come; null when there is no such upload any more. */
  async partsOf(key: string, id: string): Promise<number | null> {
    try {
      const { Parts } = await this.#send("ListParts", key, () =>
        this.#client.send(new ListPartsCommand({ ...this.#at(key), UploadId: id })),
      );
      return Parts?.length ?? 0;
    } catch (thrown) {
      if (isStoreProblem(thrown, "noUpload", "missing")) return null;
      throw thrown;
    }
  }

  /** The uploads under way to keys that begin with a prefix. */
  async uploads(prefix: string): Promise<readonly { readonly key: string; readonly id: string }[]> {
    const found: { key: string; id: string }[] = [];
    let from: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
    while (from !== undefined) {
      const asked: object = from;
      const page = await this.#send("ListMultipartUploads", prefix, () =>
        this.#client.send(
          new ListMultipartUploadsCommand({ Bucket: this.name, Prefix: prefix, ...asked }),
        ),
      );
      for (const { Key: key, UploadId: id } of page.Uploads ?? [])
        if (key !== undefined && id !== undefined) found.push({ key, id });
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      from =
        page.IsTruncated === true && KeyMarker !== undefined
          ? { KeyMarker, ...(UploadIdMarker !== undefined && { UploadIdMarker }) }
          : undefined;
    }
    return found;
  }

  /** Says that the object is deleted; gives the id of the marker that says so. Every request makes one. */
  async remove(key: string): Promise<string | null> {
    const { VersionId } = await this.#send("DeleteObject", key, () =>
      this.#once.send(new DeleteObjectCommand(this.#at(key))),
    );
    return VersionId ?? null;
  }

  /** Removes one version or marker for ever; one that is gone already is fine. */
  async removeVersion(key: string, versionId: string): Promise<void> {
    await this.#unlessMissing("DeleteObject", key, () =>
      this.#client.send(new DeleteObjectCommand(this.#at(key, versionId))),
    );
  }

  /** Gives a version its tags, where the server left them out when the upload was begun. */
  async ensureTags(key: string, versionId: string, tags: ObjectProperties["tags"]): Promise<void> {
    if (Object.keys(tags).length === 0) return;
    const present = await this.#tagsOf(key, versionId);
    if (Object.entries(tags).every(([name, value]) => present[name] === value)) return;
    const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    await this.#send("PutObjectTagging", key, () =>
      this.#client.send(
        new PutObjectTaggingCommand({ ...this.#at(key, versionId), Tagging: { TagSet } }),
      ),
    );
  }

  async #versionOf(
    key: string,
    found: HeadObjectCommandOutput | GetObjectCommandOutput,
    hash: string | null,
  ): Promise<ObjectVersion> {
    const versionId = found.VersionId ?? "null";
    const headers = Object.fromEntries(
      HEADERS.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]])),
    );
    const { [MADE_BY]: _, ...metadata } = found.Metadata ?? {};
    const tags = (found.TagCount ?? 0) > 0 ? await this.#tagsOf(key, versionId) : {};
    return {
      versionId,
      etag: found.ETag ?? "",
      size: found.ContentLength ?? 0,
      modified: (found.LastModified ?? new Date(0)).toISOString(),
      hash,
      properties: { headers, metadata, tags },
    };
  }

  async #tagsOf(key: string, versionId: string): Promise<Record<string, string>> {
    const { TagSet } = await this.#send("GetObjectTagging", key, () =>
      this.#client.send(new GetObjectTaggingCommand(this.#at(key, versionId))),
    );
    return Object.fromEntries((TagSet ?? []).map(({ Key, Value }) => [Key ?? "", Value ?? ""]));
  }

  #history(prefix: string, from: object): Promise<ListObjectVersionsCommandOutput> {
    return this.#send("ListObjectVersions", prefix, () =>
      this.#client.send(
        new ListObjectVersionsCommand({ Bucket: this.name, Prefix: prefix, ...from }),
      ),
    );
  }

  #at(key: string, versionId?: string): { Bucket: string; Key: string; VersionId?: string } {
    return {
      Bucket: this.name,
      Key: key,
      ...(versionId !== undefined && { VersionId: versionId }),
    };
  }

  async #unlessMissing<T>(request: string, key: string, send: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#send(request, key, send);
    } catch (thrown) {
      if (isStoreProblem(thrown, "missing")) return null;
      throw thrown;
    }
  }

  async #send<T>(request: string, key: string, send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (thrown) {
      throw storeError(thrown, request, `s3://${this.name}/${key}`);
    }
  }
}
