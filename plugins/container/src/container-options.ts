import type { Resource } from "cofferdam";

/** What the options of the strategy, and the properties of a resource, say about its containers. */
export interface ContainerSettings {
  /** The image that a system begins with. */
  readonly image: string | null;
  /** `podman`, `docker`, or the path of a program that takes the same arguments; null for the first that is there. */
  readonly engine: string | null;
  /** Whether an image that is not there is fetched. */
  readonly pull: boolean;
  /** The name that a commit gives to the system as it then is; null where it is not kept. */
  readonly keep: string | null;
  /** The user in the container; null for that of the image. */
  readonly user: string | null;
  /** Names of variables that commands get of the caller's environment, besides those that they always get. */
  readonly environment: readonly string[];
}

type Values = Readonly<Record<string, unknown>>;

/** A name that no registry could have would be taken for an option by the engine. */
const IMAGE = /^[a-z0-9][\w.\-/:@]*$/i;
/** `*` stands for the rest of a name. */
const VARIABLE = /^[A-Za-z_]\w*\*?$/;
/** The engine itself goes by these, so that it cannot be handed another value. */
const OF_THE_ENGINE = ["PATH", "HOME"];

/**
 * Reads the options of the strategy.
 * @throws TypeError with a sentence about the first one that is wrong.
 */
export function readSettings(options: Values): ContainerSettings {
  const environment = options["environment"] ?? [];
  if (!Array.isArray(environment) || !environment.every(isVariable))
    throw new TypeError(
      "option environment is not a list of names of variables, PATH and HOME excepted",
    );
  const { pull = false } = options;
  if (typeof pull !== "boolean") throw new TypeError("option pull is neither true nor false");
  return {
    image: imageIn(options, "image"),
    engine: textIn(options, "engine"),
    pull,
    keep: imageIn(options, "keep"),
    user: textIn(options, "user"),
    environment,
  };
}

/** The settings for one resource: `image` and `keep` may stand in its properties. */
export function settingsFor(
  settings: ContainerSettings,
  { properties = {} }: Resource,
): ContainerSettings {
  return {
    ...settings,
    image: imageIn(properties, "image") ?? settings.image,
    keep: imageIn(properties, "keep") ?? settings.keep,
  };
}

function imageIn(values: Values, name: string): string | null {
  const text = textIn(values, name);
  if (text !== null && !IMAGE.test(text))
    throw new TypeError(`${name} is not the name of an image`);
  return text;
}

function textIn(values: Values, name: string): string | null {
  const value = values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== "string" || value === "" || value.startsWith("-"))
    throw new TypeError(`${name} is not a name`);
  return value;
}

function isVariable(value: unknown): value is string {
  return typeof value === "string" && VARIABLE.test(value) && !OF_THE_ENGINE.includes(value);
}
