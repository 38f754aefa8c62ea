import type { Dialect } from "./marks.ts";

/**
 * How root's overlays are mounted: folders of the base can be renamed; no index, because an alias of a hard-linked file
 * would turn back once its layer is frozen; no files whose content lies in another layer.
 */
export const KERNEL_OPTIONS = {
  redirect_dir: "on",
  index: "off",
  metacopy: "off",
  xino: "auto",
} as const;

/** The options for `unshare` with which an ordinary user may mount an overlay that nobody else sees. */
export const OWN_MOUNTS: readonly string[] = [
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--mount",
  "--propagation",
  "private",
];

/** The options for `mount`, with names relative to its working directory: nothing in them needs an escape. */
export function kernelOptionString(
  dialect: Dialect,
  lower: readonly string[],
  upper: string,
  work: string,
): string {
  const own =
    dialect === "user"
      ? ["userxattr", "xino=auto"]
      : Object.entries(KERNEL_OPTIONS).map(([key, value]) => `${key}=${value}`);
  return [...own, `lowerdir=${lower.join(":")}`, `upperdir=${upper}`, `workdir=${work}`].join(",");
}

/**
 * The options for `fuse-overlayfs`, with names relative to its working directory. It refuses to change what has an owner
 * or a group that the user may not give to the copy; with `showsOwnGroup` it does, and shows everything with his group.
 */
export function fuseOptions(
  lower: readonly string[],
  upper: string,
  work: string,
  showsOwnGroup: boolean,
): string {
  const layers = `lowerdir=${lower.join(":")},upperdir=${upper},workdir=${work}`;
  return showsOwnGroup ? `${layers},squash_to_gid=${process.getegid?.()}` : layers;
}
