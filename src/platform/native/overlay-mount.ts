import { AT, OPEN } from "./constants.ts";
import { mount } from "./mount.ts";
import { MAX_OPTION_BYTES, MountContext } from "./mount-context.ts";
import { throwUnlessErrno } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";
import { close, openAt } from "./paths.ts";

/** An overlay: layers from top to bottom, and where it appears. Paths may hold any byte. */
export interface OverlayMount {
  /** Read-only layers, the topmost first. */
  readonly lower: readonly ByteName[];
  /** Writable layer and its work directory on the same file system; without them the mount is read-only. */
  readonly upper?: ByteName;
  readonly work?: ByteName;
  /** A directory; a link at the end of the path is refused. */
  readonly target: ByteName;
  /** Further options of overlayfs, such as `{ userxattr: true, xino: "auto" }`. */
  readonly options?: Readonly<Record<string, string | true>>;
  /** Shown as the source in the mount table; `overlay` unless told otherwise. */
  readonly source?: string;
}

/**
 * How the layers reach the kernel: as open directories (Linux 6.13), as one text each (6.5), or as one option string
 * with escapes (all; at most one page).
 */
export type OverlayMethod = "descriptors" | "texts" | "optionString";

/** All methods, the safest first. */
export const OVERLAY_METHODS: readonly OverlayMethod[] = ["descriptors", "texts", "optionString"];

/**
 * Mounts an overlay with the safest method that this kernel knows, and tells which one it was.
 * @throws NativeError with the kernel's own words in the message where it gives any.
 */
export function mountOverlay(overlay: OverlayMount): OverlayMethod {
  let refusal: unknown;
  for (const method of OVERLAY_METHODS) {
    try {
      mountOverlayWith(method, overlay);
      return method;
    } catch (error) {
      // A kernel that does not know a method says EINVAL, or ENOSYS where there is no such call. A later method that
      // gives the same answer tells less about a truly bad layer than the first one did.
      throwUnlessErrno(error, "EINVAL", "ENOSYS");
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Mounts an overlay with this method only. */
export function mountOverlayWith(method: OverlayMethod, overlay: OverlayMount): void {
  const source = overlay.source ?? "overlay";
  using handles = new DirectoryHandles();
  const target = handles.open(overlay.target, OPEN.noFollow);
  if (method === "optionString") {
    mount(source, `/proc/self/fd/${target}`, "overlay", 0, optionString(overlay));
    return;
  }
  using context = new MountContext("overlay");
  context.setString("source", source);
  for (const [key, path] of layersOf(overlay)) {
    const fd = handles.open(path);
    if (method === "descriptors") context.setDescriptor(key, fd);
    else context.setString(key, plainText(path, fd));
  }
  for (const [key, value] of Object.entries(overlay.options ?? {})) {
    if (value === true) context.setFlag(key);
    else context.setString(key, value);
  }
  context.attach(target);
}

function layersOf({
  lower,
  upper,
  work,
}: OverlayMount): (readonly [key: string, path: ByteName])[] {
  const layers = lower.map((path) => ["lowerdir+", path] as const);
  if (upper === undefined || work === undefined) return layers;
  return [...layers, ["upperdir", upper], ["workdir", work]];
}

/** The kernel takes short texts only, and reads a backslash as an escape in some of them. */
function plainText(path: ByteName, fd: number): ByteName {
  const isPlain = path.length <= MAX_OPTION_BYTES && !nameText(path).includes("\\");
  return isPlain ? path : `/proc/self/fd/${fd}`;
}

function optionString(overlay: OverlayMount): string {
  const escaped = (path: ByteName): string => nameText(path).replaceAll(/[\\,:]/g, "\\$&");
  const options = Object.entries(overlay.options ?? {}).map(([key, value]) =>
    value === true ? key : `${key}=${value}`,
  );
  options.push(`lowerdir=${overlay.lower.map(escaped).join(":")}`);
  if (overlay.upper !== undefined && overlay.work !== undefined) {
    options.push(`upperdir=${escaped(overlay.upper)}`, `workdir=${escaped(overlay.work)}`);
  }
  return options.join(",");
}

/** Directories held open until the mount is made. */
class DirectoryHandles implements Disposable {
  readonly #open: number[] = [];

  open(path: ByteName, flags = 0): number {
    const fd = openAt(AT.workingDirectory, path, OPEN.pathOnly | OPEN.directory | flags);
    this.#open.push(fd);
    return fd;
  }

  [Symbol.dispose](): void {
    for (const fd of this.#open) close(fd);
  }
}
