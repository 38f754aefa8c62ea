import { basename, resolve } from "node:path";
import { BUILT_IN_RESOURCE_TYPE_NAMES, closestName } from "../light.ts";
import type { CofferConfig, PlanResource, SandboxDescription } from "../index.ts";
import { usageError } from "./usage-error.ts";

/** Short names of resource types whose location is a path. */
const PATH_TYPES: Readonly<Record<string, string>> = {
  dir: "fs-directory",
  file: "fs-file",
  mount: "fs-mount",
  git: "git-repository",
};

/** Databases by the name of a configured connection, and the schemes that such a connection has. */
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  postgres: ["postgres", "postgresql"],
  mariadb: ["mariadb", "mysql"],
  mysql: ["mysql", "mariadb"],
};

const SPECIFIED = /^(?:(?<strategy>.+)\+)?(?<type>[A-Za-z][\w.-]*):(?<location>.+)$/s;
/** The URL of a server, or what else leads to one, where the name of a connection is expected. */
const ADDRESS =
  /^(?:[^/]*\+)?(?:database:)?(?<type>postgres|mariadb|mysql)(?:ql)?:(?:\/\/|.*[@=:])/is;
/** A URL with a user, and so perhaps with a password, where a path is expected. */
const REMOTE = /^[a-z][a-z\d+.-]*:\/\/[^/]*@/i;
const HINT =
  "A RESOURCE is a name from cofferdam.yaml, a path, or [STRATEGY+]TYPE:LOCATION; " +
  "a path with a colon in it begins with ./ or /.";

/** What a RESOURCE of the command line means, without an id; text is left to the library: a configured id or a path. */
export type ResourceArgument = string | Omit<PlanResource, "id">;

/**
 * Reads a RESOURCE: a name from the configuration, a path, or `[STRATEGY+]TYPE:LOCATION`. Nothing is looked up on disk:
 * what has a colon and does not begin with a dot or a slash is never taken for a path.
 * @throws UsageError for an unknown type, a connection that is not configured, or the URL of a server or repository.
 */
export function parseResource(
  text: string,
  config: Pick<CofferConfig, "resources" | "resourceTypes" | "connections">,
): ResourceArgument {
  if (text === "") throw usageError("a RESOURCE must not be empty", HINT);
  if (config.resources.has(text) || /^\.{0,2}\//.test(text)) return text;
  const { strategy, type, location } = SPECIFIED.exec(text)?.groups ?? {};
  if (type === undefined || location === undefined) return text;
  if (!config.connections.has(location)) refuseAddress(text);
  const chosen = strategy === undefined ? {} : { sandboxStrategy: strategy };
  return { ...specified(type, location, config), ...chosen };
}

function specified(
  type: string,
  location: string,
  config: Pick<CofferConfig, "resourceTypes" | "connections">,
): Omit<PlanResource, "id"> {
  const alias = Object.hasOwn(PATH_TYPES, type) ? PATH_TYPES[type] : undefined;
  if (alias !== undefined) {
    if (REMOTE.test(location))
      throw usageError(`a path is expected behind ${type}:, not a URL`, HINT);
    return { type: alias, location: resolve(location) };
  }
  if (type === "sqlite") return { type: "database", location: sqliteAddress(location) };
  const schemes = Object.hasOwn(SERVERS, type) ? SERVERS[type] : undefined;
  if (schemes !== undefined) {
    requireConnection(type, location, schemes, config);
    return { type: "database", location };
  }
  const isKnown = config.resourceTypes.has(type) || isBuiltIn(type);
  if (isKnown)
    return { type, location: /^\.{0,2}\//.test(location) ? resolve(location) : location };
  const known = [...typeNames(), ...config.resourceTypes.keys()];
  const meant = closestName(type, known);
  throw usageError(
    `unknown type '${type}' of a resource`,
    meant === null ? `Types are ${known.join(", ")}. ${HINT}` : `Did you mean ${meant}? ${HINT}`,
  );
}

/**
 * Whoever gives the URL of a database instead of a name may have given a password: nothing of it is told.
 * @throws UsageError for what leads to a server.
 */
export function refuseAddress(text: string): void {
  const type = ADDRESS.exec(text)?.groups?.["type"]?.toLowerCase();
  if (type === undefined) return;
  throw usageError(
    `the name of a connection is expected behind ${type}:, not a URL`,
    `Put the URL under connections: in cofferdam.yaml, and give the name that it has there: ${type}:NAME.`,
  );
}

/** The names that TYPE may have without a configuration. */
export function typeNames(): readonly string[] {
  return [...Object.keys(PATH_TYPES), "sqlite", ...Object.keys(SERVERS)];
}

/** The address of a database file, which needs no connection in the configuration. */
function sqliteAddress(location: string): string {
  const [path = "", query] = location.split(/\?(?=[^/]*$)/, 2);
  const encoded = resolve(path).split("/").map(encodeURIComponent).join("/");
  return `sqlite:${encoded}${query === undefined ? "" : `?${query}`}`;
}

function requireConnection(
  type: string,
  name: string,
  schemes: readonly string[],
  { connections }: Pick<CofferConfig, "connections">,
): void {
  const schemeOf = (url: string): string => url.slice(0, url.indexOf(":")).toLowerCase();
  const setting = connections.get(name);
  if (setting !== undefined && schemes.includes(schemeOf(setting.url))) return;
  const fitting = [...connections].filter(([, { url }]) => schemes.includes(schemeOf(url)));
  const names = fitting.map(([known]) => known);
  const meant = closestName(name, names);
  throw usageError(
    setting === undefined
      ? `there is no connection '${name}' in the configuration`
      : `the connection '${name}' is not to ${type}`,
    meant !== null
      ? `Did you mean ${type}:${meant}?`
      : `Add it under connections in cofferdam.yaml; there ${names.length === 0 ? "is none" : `are ${names.join(", ")}`} for ${type}.`,
  );
}

function isBuiltIn(type: string): boolean {
  return (BUILT_IN_RESOURCE_TYPE_NAMES as readonly string[]).includes(type);
}

/**
 * Gives the resources of a call their ids: the one that the plan has already, else the last part of the path, else, where
 * another resource has that, the whole location.
 */
export function namedResources(
  given: readonly ResourceArgument[],
  known: readonly SandboxDescription[],
): (PlanResource | string)[] {
  const taken = new Set(known.map(({ ref }) => ref.resourceId));
  const places = new Map<string, PlanResource | string>(
    known.map(({ resource: { resourceId, ...own } }) => [own.location, { ...own, id: resourceId }]),
  );
  return given.map((resource) => {
    const location = typeof resource === "string" ? resolve(resource) : resource.location;
    const isPlain = typeof resource === "string" || resource.sandboxStrategy === undefined;
    const same = places.get(location);
    // The same thing again, whatever it is called, unless another strategy is asked for.
    if (same !== undefined && isPlain) return same;
    const last = lastPart(location);
    const ownId = typeof same === "object" ? same.id : undefined;
    const id = ownId ?? (taken.has(last) ? location : last);
    const named = typeof resource === "string" ? resource : { ...resource, id };
    taken.add(id);
    places.set(location, named);
    return named;
  });
}

function lastPart(location: string): string {
  const path = location.startsWith("sqlite:")
    ? decodeURIComponent(location.slice("sqlite:".length).replace(/\?.*$/s, ""))
    : location;
  return basename(resolve(path)) || path;
}

/** The sandbox of a plan that a RESOURCE means: its id, its path or its location; undefined when there is none. */
export function findMember(
  text: string,
  members: readonly SandboxDescription[],
): SandboxDescription | undefined {
  const byId = members.find(({ ref }) => ref.resourceId === text);
  if (byId !== undefined) return byId;
  const specified = SPECIFIED.exec(text)?.groups?.["location"];
  const locations = [text, resolve(text), sqliteAddress(text)];
  if (specified !== undefined)
    locations.push(specified, resolve(specified), sqliteAddress(specified));
  return members.find(({ resource }) => locations.includes(resource.location));
}
