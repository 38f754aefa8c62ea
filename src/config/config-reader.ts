import type { ConfigurationProblem } from "../errors/index.ts";
import type { Json } from "../model/sandbox-ref.ts";
import { showChoices, showFound, suggest } from "./config-problem.ts";
import { renderKeyPath } from "./key-path.ts";
import type { KeyPath } from "./key-path.ts";
import type { YamlTree } from "./yaml-tree.ts";

/** Accepts a text or says what was expected instead. */
export type TextCheck = (text: string) => string | null;

/**
 * One value of a configuration while it is checked. Every question answers with the value or with undefined, and what is
 * wrong goes into one shared list, so that all problems of a file are found in one pass.
 */
export class ConfigReader {
  readonly #tree: YamlTree | undefined;
  readonly #path: KeyPath;
  readonly #line: number;
  readonly #problems: ConfigurationProblem[];

  constructor(
    tree: YamlTree | undefined,
    problems: ConfigurationProblem[],
    path: KeyPath = [],
    line = tree?.line ?? 1,
  ) {
    this.#tree = tree;
    this.#problems = problems;
    this.#path = path;
    this.#line = line;
  }

  /** Whether anything was written here. An empty mapping or list counts, an empty value does not. */
  get isPresent(): boolean {
    return this.#tree !== undefined;
  }

  /** The values of a mapping that has no other keys than these. An empty value is an empty mapping. */
  section<const Key extends string>(...keys: readonly Key[]): Readonly<Record<Key, ConfigReader>> {
    const entries = this.#mapping();
    for (const [key, entry] of entries) {
      if ((keys as readonly string[]).includes(key)) continue;
      new ConfigReader(entry.value, this.#problems, [...this.#path, key], entry.line).refuse(
        "an unknown key",
        suggest(key, keys),
      );
    }
    const children = keys.map((key) => [key, this.#child(key, entries)] as const);
    return Object.fromEntries(children) as Record<Key, ConfigReader>;
  }

  /** The entries of a mapping whose keys the user chooses. */
  named(): readonly (readonly [string, ConfigReader])[] {
    const entries = this.#mapping();
    return [...entries.keys()].map((key) => [key, this.#child(key, entries)] as const);
  }

  /** The values of a list. */
  items(): readonly ConfigReader[] | undefined {
    if (this.#tree === undefined) return undefined;
    if (this.#tree.kind !== "list") return this.#wrongKind("a list");
    return this.#tree.items.map(
      (item, index) => new ConfigReader(item, this.#problems, [...this.#path, index]),
    );
  }

  /** A list of texts that each pass the check. */
  texts(expected: string, check?: TextCheck): readonly string[] | undefined {
    const texts = this.items()?.map((item) => item.text(expected, check));
    return texts?.filter((text) => text !== undefined);
  }

  /** A text that is not empty and passes the check. */
  text(expected: string, check?: TextCheck): string | undefined {
    if (this.#tree === undefined) return undefined;
    if (this.#tree.kind !== "scalar" || typeof this.#tree.value !== "string") {
      return this.#wrongKind(expected);
    }
    if (this.#tree.value === "") return this.#wrongKind(expected);
    const problem = check?.(this.#tree.value) ?? null;
    return problem === null ? this.#tree.value : this.#wrongKind(problem);
  }

  /** A text out of a few. */
  choice<const Value extends string>(...values: readonly Value[]): Value | undefined {
    const expected = showChoices(values);
    const text = this.text(expected, (given) =>
      (values as readonly string[]).includes(given) ? null : expected,
    );
    return text as Value | undefined;
  }

  /** A number from 0 up. */
  amount(options: { readonly whole: boolean }): number | undefined {
    if (this.#tree === undefined) return undefined;
    const expected = options.whole ? "a whole number from 0 up" : "a number from 0 up";
    const value = this.#tree.kind === "scalar" ? this.#tree.value : null;
    if (typeof value !== "number" || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) {
      return this.#wrongKind(expected);
    }
    return options.whole && !Number.isInteger(value) ? this.#wrongKind(expected) : value;
  }

  /** True or false. */
  flag(): boolean | undefined {
    if (this.#tree === undefined) return undefined;
    const value = this.#tree.kind === "scalar" ? this.#tree.value : null;
    return typeof value === "boolean" ? value : this.#wrongKind("true or false");
  }

  /** A mapping of any content, for somebody else to check. */
  record(): Readonly<Record<string, Json>> | undefined {
    if (this.#tree === undefined) return undefined;
    if (this.#tree.kind !== "mapping") return this.#wrongKind("a mapping");
    return toJson(this.#tree) as Record<string, Json>;
  }

  /** Puts a problem of this place on the list. */
  refuse(found: string, expected: string): undefined {
    this.#problems.push({ keyPath: renderKeyPath(this.#path), line: this.#line, found, expected });
  }

  #mapping(): Extract<YamlTree, { kind: "mapping" }>["entries"] {
    const tree = this.#tree;
    if (tree?.kind === "mapping") return tree.entries;
    const isEmpty = tree === undefined || (tree.kind === "scalar" && tree.value === null);
    if (!isEmpty) this.#wrongKind("a mapping");
    return new Map();
  }

  #child(key: string, entries: Extract<YamlTree, { kind: "mapping" }>["entries"]): ConfigReader {
    const entry = entries.get(key);
    const line = entry?.line ?? this.#line;
    return new ConfigReader(entry?.value, this.#problems, [...this.#path, key], line);
  }

  #wrongKind(expected: string): undefined {
    const tree = this.#tree;
    if (tree?.kind === "mapping") return this.refuse("a mapping", expected);
    if (tree?.kind === "list") return this.refuse("a list", expected);
    return this.refuse(showFound(tree?.value ?? null), expected);
  }
}

function toJson(tree: YamlTree): Json {
  if (tree.kind === "scalar") return tree.value;
  if (tree.kind === "list") return tree.items.map(toJson);
  return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, toJson(value)]));
}
