import { resolve } from "node:path";
import { findPassword } from "../errors/index.ts";
import type { Resource } from "../model/resource.ts";
import { BUILT_IN_RESOURCE_TYPE_NAMES, hasPathLocation } from "../model/strategy-names.ts";
import type { ResourceTypeSetting } from "./config.ts";
import { showChoices, suggest } from "./config-problem.ts";
import type { ConfigReader } from "./config-reader.ts";
import { refuseTilde } from "./refuse-tilde.ts";
import { strategyName } from "./read-strategies.ts";

/** What the reading of resources depends on. */
export interface ResourceSurroundings {
  readonly directory: string;
  readonly resourceTypes: ReadonlyMap<string, ResourceTypeSetting>;
}

/**
 * `resources`. The location of a file resource is a path relative to the configuration's folder. The location of
 * another type may be any name, so it is taken as it is unless it begins with `./` or `../`.
 */
export function readResources(
  reader: ConfigReader,
  surroundings: ResourceSurroundings,
): ReadonlyMap<string, Resource> {
  const resources = new Map<string, Resource>();
  const entries = reader.named();
  const ids = entries.map(([id]) => id);
  const parentsOf = new Map<string, readonly string[]>();
  for (const [id, entry] of entries) {
    if (id === "") entry.refuse("an empty id", "an id");
    const keys = entry.section("type", "location", "strategy", "parents", "properties");
    const type = readType(keys.type, surroundings.resourceTypes);
    const location = readLocation(keys.location);
    const sandboxStrategy = strategyName(keys.strategy);
    const parents = keys.parents.texts("the id of a resource", (parent) =>
      ids.includes(parent) ? null : suggest(parent, ids),
    );
    const properties = readProperties(keys.properties);
    parentsOf.set(id, parents ?? []);
    if (type === undefined || location === undefined) continue;
    resources.set(id, {
      resourceId: id,
      type,
      location: place(location, type, surroundings.directory),
      ...(sandboxStrategy === undefined ? {} : { sandboxStrategy }),
      ...(parents === undefined ? {} : { parents }),
      ...(properties === undefined ? {} : { properties }),
    });
  }
  for (const [id, entry] of entries) {
    const circle = circleThrough(id, parentsOf);
    // Each circle is told once, at the id that comes first in it.
    if (circle === null || circle.some((other) => ids.indexOf(other) < ids.indexOf(id))) continue;
    entry.refuse(`the circle ${[...circle, id].join(" → ")}`, "parents without a circle");
  }
  return resources;
}

function readType(
  reader: ConfigReader,
  own: ReadonlyMap<string, ResourceTypeSetting>,
): string | undefined {
  const known = new Set([...BUILT_IN_RESOURCE_TYPE_NAMES, ...own.keys()]);
  if (!reader.isPresent) return reader.refuse("nothing", showChoices(known));
  return reader.text("the name of a resource type", (type) =>
    known.has(type) ? null : suggest(type, known),
  );
}

function readLocation(reader: ConfigReader): string | undefined {
  if (!reader.isPresent) return reader.refuse("nothing", "a path");
  const location = reader.text("a path", refuseTilde);
  if (findPassword(location) !== null) {
    return reader.refuse("a password", "a location without a password");
  }
  return location;
}

function readProperties(reader: ConfigReader): Resource["properties"] {
  const properties = reader.record();
  const secret = findPassword(properties);
  if (secret === null) return properties;
  return reader.refuse(`a password in ${secret}`, "properties without a password");
}

function place(location: string, type: string, directory: string): string {
  const isPath = hasPathLocation(type) || /^\.{1,2}(?:\/|$)/.test(location);
  return isPath ? resolve(directory, location) : location;
}

/** The ids on a way from the id back to itself; null when there is none. */
function circleThrough(
  id: string,
  parentsOf: ReadonlyMap<string, readonly string[]>,
): readonly string[] | null {
  const seen = new Set<string>();
  const ways: (readonly string[])[] = [[id]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const parent of parentsOf.get(way.at(-1)!)!) {
      if (parent === id) return way;
      if (seen.has(parent)) continue;
      seen.add(parent);
      ways.push([...way, parent]);
    }
  }
  return null;
}
