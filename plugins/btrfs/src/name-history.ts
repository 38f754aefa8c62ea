interface Place {
  readonly folder: Entry;
  readonly name: string;
}

interface Entry {
  /** Where it was when it was first spoken of; the root has no place. */
  readonly first: Place | undefined;
  /** Where it is now. */
  last: Place | undefined;
  /** Those in it that were spoken of, by the name they have now. */
  inside: Map<string, Entry> | undefined;
}

/**
 * Follows entries of a tree through renames. Each path is understood as of the moment it is given; in the end every
 * entry is known by its first and by its last path. A rename costs the same however much lies below the folder.
 */
export class NameHistory {
  readonly #root: Entry = { first: undefined, last: undefined, inside: undefined };
  readonly #mentioned = new Set<Entry>();
  readonly #spelled = new Set<string>();

  /** Something is said about the entry at a path. */
  mention(path: string): void {
    this.#spelled.add(path);
    this.#mentioned.add(this.#find(path));
  }

  /** The entry at one path, with all that is in it, goes to another, where nothing is by now. */
  move(from: string, to: string): void {
    if (from === "" || to === "" || `${to}/`.startsWith(`${from}/`)) {
      throw new Error(`The send stream moves "${from}" to "${to}", which cannot be.`);
    }
    this.mention(from);
    this.#spelled.add(to);
    const entry = this.#find(from);
    entry.last?.folder.inside?.delete(entry.last.name);
    const slash = to.lastIndexOf("/");
    const folder = this.#find(to.slice(0, Math.max(slash, 0)));
    entry.last = { folder, name: to.slice(slash + 1) };
    folder.inside ??= new Map();
    folder.inside.set(entry.last.name, entry);
  }

  /** Every path that was given, and the first and the last path of every entry that was meant. */
  paths(): string[] {
    const paths = new Set(this.#spelled);
    for (const entry of this.#mentioned) {
      paths.add(pathOf(entry, "first"));
      paths.add(pathOf(entry, "last"));
    }
    return [...paths];
  }

  #find(path: string): Entry {
    let entry = this.#root;
    if (path === "") return entry;
    for (const name of path.split("/")) entry = entryIn(entry, name);
    return entry;
  }
}

function entryIn(folder: Entry, name: string): Entry {
  const known = folder.inside?.get(name);
  if (known !== undefined) return known;
  const place = { folder, name };
  const entry = { first: place, last: place, inside: undefined };
  folder.inside ??= new Map();
  folder.inside.set(name, entry);
  return entry;
}

function pathOf(entry: Entry, when: "first" | "last"): string {
  const names: string[] = [];
  for (let place = entry[when]; place !== undefined; place = place.folder[when]) {
    names.push(place.name);
  }
  return names.toReversed().join("/");
}
