/** Files that engines put into every container. */
const OF_THE_ENGINE = [
  "/dev",
  "/etc/hostname",
  "/etc/hosts",
  "/etc/mtab",
  "/etc/resolv.conf",
  "/proc",
  "/run/.containerenv",
  "/run/secrets",
  "/sys",
  "/.dockerenv",
];

/** What a command changed in a system. */
export interface SystemChanges {
  /** The number of all entries of the layer. */
  readonly all: number;
  /** The paths that the command itself added, changed or removed. */
  readonly own: readonly string[];
}

/**
 * Reads what `diff` says of a container: a letter and a path in each line. Folders around a change are listed as well,
 * and so are the places at which something was shown; nobody means these.
 */
export function systemChanges(text: string, places: readonly string[]): SystemChanges {
  const entries = text.split("\n").flatMap((line) => {
    const found = /^([ACD]) (\/.*)$/.exec(line);
    return found === null ? [] : [{ kind: found[1], path: found[2] ?? "" }];
  });
  const shown = [...OF_THE_ENGINE, ...places];
  const own = entries
    .map(({ path }) => path)
    .filter((path) => !shown.some((place) => place === path || place.startsWith(`${path}/`)))
    .filter((path, _index, paths) => {
      const isAround = paths.some((other) => other.startsWith(`${path}/`));
      const isChanged = entries.some((entry) => entry.path === path && entry.kind === "C");
      return !(isAround && isChanged);
    });
  return { all: entries.length, own };
}
