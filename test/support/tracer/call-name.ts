/** A call that is the same one in every run, whatever ran beside it and how many calls that made. */
export interface NamedCall {
  readonly name: string;
  /** Which one of those with this name, from one. */
  readonly nth: number;
}

/** Counts calls by name as they come. */
export class CallNames {
  readonly #folder: string;
  readonly #met = new Map<string, number>();

  /** Names are told without the folder of the run. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The name of the call that comes next. */
  next(call: string, paths: readonly string[]): NamedCall {
    const name = nameOfCall(call, paths, this.#folder);
    const nth = (this.#met.get(name) ?? 0) + 1;
    this.#met.set(name, nth);
    return { name, nth };
  }
}

/** A call in words that are the same in every run: ids in its paths are not told. */
export function nameOfCall(call: string, paths: readonly string[], folder: string): string {
  const named = paths.map((path) =>
    path
      .replace(folder, "")
      .replaceAll(/[0-9a-f]{32}/g, "ID")
      .replaceAll(/[0-9a-z]{26}/g, "ID")
      .replaceAll(/\.cofferdam-\d+/g, "AREA"),
  );
  return `${call} ${named.join(" ")}`;
}
