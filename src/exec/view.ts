import { join } from "node:path";
import { Copies } from "./copies.ts";
import { type Step, bindsAtOnce, mountsAtOnce } from "./mounts-at-once.ts";
import type { ThrowAwayLayer } from "./outside.ts";
import { Repositories, type RepositoriesRequest } from "./repositories.ts";
import type { SeenWorktree } from "./submodule-links.ts";

/** A mount of the machine. */
export interface RealMount {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly isFolder: boolean;
  /** What else holds of it, such as `nosuid`: an ordinary user cannot take that away. */
  readonly flags: readonly string[];
}

/** What a view is made of. */
export interface ViewRequest extends RepositoriesRequest {
  readonly isRoot: boolean;
  readonly network: boolean;
  readonly home: string | null;
  readonly temporary: readonly string[];
  readonly mounts: readonly RealMount[];
  /** Paths of sockets that somebody listens on. */
  readonly sockets: readonly string[];
  /** Whether the kernel can leave a layer that is thrown away unsynced. */
  readonly canSpareSyncs: boolean;
}

/** How a view is built: steps for the script, and what has to be on disk before. */
export interface View {
  readonly steps: readonly Step[];
  /** Layers whose content is thrown away afterwards. */
  readonly layers: readonly (ThrowAwayLayer & { readonly folder: string })[];
  /** Files to make first, with their texts. */
  readonly files: ReadonlyMap<string, string>;
  /** Links to make first, with what they lead to. */
  readonly links: ReadonlyMap<string, string>;
  /** Worktrees whose repositories are seen at another place than they lie. */
  readonly worktrees: readonly SeenWorktree[];
  /** Settings of git that the command gets by its environment. */
  readonly settings: readonly (readonly [key: string, value: string])[];
}

/** File systems of the kernel itself: shown as they are. */
const LIVE = ["/proc", "/sys", "/dev"];
const USER_OPTIONS = "userxattr,xino=auto,";

/** Plans the view of a command; touches nothing. */
export function planView(request: ViewRequest): View {
  return request.outside === "allow" ? planOpenView(request) : new ClosedView(request).plan();
}

/** The real machine with the sandboxes at their places. */
function planOpenView(request: ViewRequest): View {
  const repositories = new Repositories(request, request.folder);
  const copies = new Copies(request.sandboxes, request.folder, null);
  const steps = [
    ...repositories.show((path) => path),
    ...showAll(request, (path) => path),
    ...repositories.link((path) => path),
    ...copies.show((path) => path),
    ["processes", "/proc"],
    ...network(request),
  ];
  const { worktrees, settings } = repositories;
  const files = repositories.files();
  return { steps, layers: [], files, links: copies.links(), worktrees, settings };
}

/** A root of its own. */
class ClosedView {
  readonly #request: ViewRequest;
  readonly #root: string;
  readonly #layers: (ThrowAwayLayer & { readonly folder: string })[] = [];

  constructor(request: ViewRequest) {
    this.#request = request;
    this.#root = join(request.folder, "root");
  }

  plan(): View {
    const { isRoot, outside, state, folder, masked, sandboxes, sockets } = this.#request;
    const ground = isRoot && outside === "discard" ? this.#layeredGround() : this.#fixedGround();
    const inState = (path: string): boolean => isWithin(path, state);
    const repositories = new Repositories(this.#request, state);
    const copies = new Copies(sandboxes, folder, state);
    const hasPlaces = repositories.areHidden || copies.areThere;
    const steps = [
      ...ground,
      ["processes", this.#at("/proc")],
      ...showAll(this.#request, (path) => this.#at(path)),
      [hasPlaces ? "room" : "hide", this.#at(state)],
      ...masked.filter((path) => !inState(path)).map((path) => ["mask", this.#at(path)]),
    ];
    const atOnce = mountsAtOnce(steps, folder);
    const listening = sockets.filter((path) => !isLive(path) && !inState(path));
    const tables = { mounts: join(folder, "mounts"), sockets: join(folder, "sockets") };
    const skipped = steps.slice(0, atOnce.count).flat().length;
    const all = [
      ["at-once", folder, tables.mounts, this.#root, String(skipped)],
      ...steps,
      ...(listening.length > 0 ? [["attempts", tables.sockets]] : []),
      ...repositories.show((path) => this.#at(path)),
      ...repositories.link((path) => this.#at(path)),
      ...copies.show((path) => this.#at(path)),
      ["pivot", this.#root],
      ...(hasPlaces ? [["closed", state]] : []),
      ...network(this.#request),
    ];
    const files = new Map([
      ...repositories.files(),
      [tables.mounts, atOnce.text],
      [tables.sockets, bindsAtOnce(listening.map((path) => [path, this.#at(path)]))],
    ]);
    const { worktrees, settings } = repositories;
    const links = copies.links();
    return { steps: all, layers: this.#layers, files, links, worktrees, settings };
  }

  /** Every file system below a layer of its own. */
  #layeredGround(): string[][] {
    const steps = [["layer", ...this.#layer("/", this.#root)]];
    for (const { path, isReadOnly, isFolder, flags } of this.#otherMounts()) {
      const target = this.#at(path);
      if (isFolder && !isReadOnly)
        steps.push(["overlay", ...this.#layer(path, target), path, "bound"]);
      else steps.push(["still", path, target, flags.join(",")]);
    }
    return [...steps, ...["/sys", "/dev"].map((path) => ["tree", path, this.#at(path)])];
  }

  /** Everything as it is, and not to be changed, with layers over the few places that every program writes to. */
  #fixedGround(): string[][] {
    const { isRoot, home, temporary, outside, mounts } = this.#request;
    const ofRoot = mounts.find(({ path }) => path === "/") ?? { path: "/", flags: [] };
    const places = new Set(
      home === null || outside !== "discard" ? temporary : [...temporary, home],
    );
    return [
      ["tree", "/", this.#root],
      ...[ofRoot, ...this.#otherMounts()].map(({ path, flags }) => [
        "fixed",
        this.#at(path),
        flags.join(","),
      ]),
      ...byDepth([...places], (path) => path).map((path) => [
        "overlay",
        ...this.#layer(path, this.#at(path), isRoot),
        path,
        "there",
      ]),
    ];
  }

  #layer(path: string, target: string, isRoot = true): [string, string, string] {
    const { folder: run, canSpareSyncs } = this.#request;
    const name = String(this.#layers.length);
    const folder = join(run, name);
    this.#layers.push({ at: path, upper: join(folder, "upper"), folder });
    const places = `lowerdir=${name}/lower,upperdir=${name}/upper,workdir=${name}/work`;
    const options = isRoot ? places : `${USER_OPTIONS}${places}`;
    // Else the end of the mount waits for everything that anybody has written to the disk.
    return [run, canSpareSyncs ? `volatile,${options}` : options, target];
  }

  #otherMounts(): RealMount[] {
    const { mounts, state, masked } = this.#request;
    const hidden = [state, ...masked];
    const shown = mounts.filter(
      ({ path }) =>
        path !== "/" && !isLive(path) && !hidden.some((folder) => isWithin(path, folder)),
    );
    return byDepth(shown, ({ path }) => path);
  }

  #at(path: string): string {
    return path === "/" ? this.#root : `${this.#root}${path}`;
  }
}

/** Folders at their places, outer ones before those inside them. */
function showAll({ sandboxes }: ViewRequest, within: (path: string) => string): string[][] {
  return byDepth(sandboxes, ({ location }) => location).flatMap((one) => {
    if ("copy" in one) return [];
    const target = within(one.location);
    return "workspace" in one
      ? [["bind", one.workspace, target]]
      : [["layer", one.folder, one.options, target]];
  });
}

function network(request: ViewRequest): string[][] {
  return request.network ? [] : [["loopback"]];
}

function isLive(path: string): boolean {
  return LIVE.some((folder) => isWithin(path, folder));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Outer places come before those inside them. */
function byDepth<T>(list: readonly T[], pathOf: (one: T) => string): T[] {
  return list.toSorted((a, b) => pathOf(a).length - pathOf(b).length);
}
