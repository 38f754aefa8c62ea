import { isAbsolute } from "node:path";

/** How a server is reached. Credentials are no settings: the client library finds them where it always does. */
export interface StoreSettings {
  /** The address of the server; that of AWS unless given. */
  readonly endpoint?: string;
  readonly region?: string;
  /** The profile whose credentials are used. */
  readonly profile?: string;
  /** The file that holds the credentials, in the form of `~/.aws/credentials`; absolute. */
  readonly credentialsFile?: string;
  /** The bucket stands in the path of every request, not in the name of the host. Default: where an endpoint is given. */
  readonly pathStyle?: boolean;
  /** The media types of new objects, by the ending of their names; added to the usual ones. */
  readonly contentTypes?: Readonly<Record<string, string>>;
}

const TEXTS = {
  endpoint: "endpoint",
  region: "region",
  profile: "profile",
  credentials_file: "credentialsFile",
} as const;
const KNOWN = [...Object.keys(TEXTS), "path_style", "content_types"];

/**
 * Reads the options of the strategy, or the properties of a resource.
 * @throws Error that names the option that is wrong, never its value.
 */
export function readSettings(given: Readonly<Record<string, unknown>> = {}): StoreSettings {
  const unknown = Object.keys(given).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no option ${unknown}; there are ${KNOWN.join(", ")}`);
  }
  const texts = Object.entries(TEXTS).flatMap(([option, name]) => {
    const value = given[option];
    if (value === undefined) return [];
    if (typeof value !== "string" || value === "") throw new Error(`${option} is not text`);
    return [[name, value] as const];
  });
  const settings: StoreSettings = Object.fromEntries(texts);
  if (settings.endpoint !== undefined) checkEndpoint(settings.endpoint);
  if (settings.credentialsFile !== undefined && !isAbsolute(settings.credentialsFile)) {
    throw new Error("credentials_file is no absolute path");
  }
  const { path_style: pathStyle, content_types: contentTypes } = given;
  if (pathStyle !== undefined && typeof pathStyle !== "boolean") {
    throw new Error("path_style is neither true nor false");
  }
  return {
    ...settings,
    ...(pathStyle !== undefined && { pathStyle }),
    ...(contentTypes !== undefined && { contentTypes: readTypes(contentTypes) }),
  };
}

/** The settings of one resource: its own, and those of the strategy where it has none. */
export function mergeSettings(general: StoreSettings, own: StoreSettings): StoreSettings {
  const contentTypes = { ...general.contentTypes, ...own.contentTypes };
  return { ...general, ...own, contentTypes };
}

function checkEndpoint(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error("endpoint is no address that begins with http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("endpoint holds credentials; they belong into the environment or a profile");
  }
}

function readTypes(given: unknown): Readonly<Record<string, string>> {
  const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
  const entries = isMap ? Object.entries(given) : [];
  if (!isMap || entries.some(([, type]) => typeof type !== "string")) {
    throw new Error("content_types does not name a media type for each ending");
  }
  return Object.fromEntries(entries);
}
