import type { EntryState } from "cofferdam";

/** The properties of an object that a new version of it is given again, as the client library calls them. */
export const HEADERS = [
  "ContentType",
  "CacheControl",
  "ContentDisposition",
  "ContentEncoding",
  "ContentLanguage",
  "WebsiteRedirectLocation",
  "StorageClass",
] as const;

/** What an object has besides its content. */
export interface ObjectProperties {
  readonly headers: Readonly<Partial<Record<(typeof HEADERS)[number], string>>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** One version of an object as the server has it. */
export interface ObjectVersion {
  readonly versionId: string;
  readonly etag: string;
  readonly size: number;
  /** UTC, ISO 8601. */
  readonly modified: string;
  /** SHA-256 of the content in hex; null when nobody has read it. */
  readonly hash: string | null;
  /** Null when nobody has asked for them. */
  readonly properties: ObjectProperties | null;
}

/** What an object is to become; its content lies with the sandbox, under its hash. */
export interface StagedObject {
  readonly hash: string;
  readonly size: number;
  readonly modified: string;
  readonly properties: ObjectProperties;
}

/** What a sandbox does to one key. */
export interface Edit {
  /** The version that the edit began with; null when there was no object. */
  readonly base: ObjectVersion | null;
  /** Null when the object is to be removed. */
  readonly mine: StagedObject | null;
}

/** The name of the metadata by which a version says which transaction made it. */
export const MADE_BY = "cofferdam-transaction";

/** Properties of an object that nobody has given any. */
export function plainProperties(contentType: string | undefined): ObjectProperties {
  const headers = contentType === undefined ? {} : { ContentType: contentType };
  return { headers, metadata: {}, tags: {} };
}

/** A version as one side of a change. Objects have no modes and no owners. */
export function stateOf(object: ObjectVersion | StagedObject): EntryState {
  const { size, hash, modified, properties } = object;
  const xattrs = properties === null ? {} : attributesOf(properties);
  return {
    type: "file",
    size,
    mode: 0o644,
    uid: 0,
    gid: 0,
    hash,
    target: null,
    mtimeNs: `${BigInt(Date.parse(modified)) * 1_000_000n}`,
    ...(Object.keys(xattrs).length > 0 && { xattrs }),
  };
}

/** Whether an edit would leave everything as its base is. */
export function isUnchanged({ base, mine }: Edit): boolean {
  if (base === null || mine === null) return base === mine;
  if (base.hash !== mine.hash || base.properties === null) return false;
  const [before, after] = [attributesOf(base.properties), attributesOf(mine.properties)];
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Sorted, so that equal properties give equal texts. */
function attributesOf({ headers, metadata, tags }: ObjectProperties): Record<string, string> {
  const named = [
    ...Object.entries(headers),
    ...Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value] as const),
    ...Object.entries(tags).map(([name, value]) => [`tag.${name}`, value] as const),
  ].sort(([a], [b]) => Number(a > b) - Number(a < b));
  return Object.fromEntries(
    named.map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
  );
}
