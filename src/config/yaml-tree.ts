import type { ConfigurationProblem } from "../errors/index.ts";
import { configurationError, showFound } from "./config-problem.ts";
import { renderKeyPath } from "./key-path.ts";
import type { KeyPath } from "./key-path.ts";

/** A value of a YAML file with its place. */
export type YamlTree =
  | {
      readonly kind: "mapping";
      readonly line: number;
      readonly entries: ReadonlyMap<string, YamlEntry>;
    }
  | { readonly kind: "list"; readonly line: number; readonly items: readonly YamlTree[] }
  | {
      readonly kind: "scalar";
      readonly line: number;
      readonly value: string | number | boolean | null;
    };

/** A key of a mapping with its place and value. */
export interface YamlEntry {
  readonly line: number;
  readonly value: YamlTree;
}

/** More than any sensible file has. Finding an anchor costs a walk, and aliases inside anchors multiply. */
const MOST_ALIASES = 100;

type YamlModule = typeof import("yaml");

/**
 * Parses YAML text. Everything that would be read in a surprising way is a problem: duplicate keys, unknown tags, several
 * documents, keys that are not text, aliases that multiply or contain themselves.
 *
 * @throws ConfigurationError `CONFIGURATION` with all problems at once.
 */
export async function parseYaml(text: string, file: string): Promise<YamlTree> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    version: "1.2",
    prettyErrors: false,
  });
  const problems: ConfigurationProblem[] = [...document.errors, ...document.warnings].map(
    (error) => ({
      keyPath: "",
      line: lines.linePos(error.pos[0]).line,
      found: error.message,
      expected: "valid YAML",
    }),
  );
  // What follows a syntax error is mostly its echo.
  if (problems.length > 0) throw configurationError(file, problems.slice(0, 5));
  const tree = new TreeBuilder(yaml, document, lines, problems).build(document.contents, []);
  if (problems.length > 0) throw configurationError(file, problems);
  return tree;
}

class TreeBuilder {
  readonly #yaml: YamlModule;
  readonly #document: import("yaml").Document.Parsed;
  readonly #lines: import("yaml").LineCounter;
  readonly #problems: ConfigurationProblem[];
  readonly #open = new Set<unknown>();
  #aliases = 0;

  constructor(
    yaml: YamlModule,
    document: import("yaml").Document.Parsed,
    lines: import("yaml").LineCounter,
    problems: ConfigurationProblem[],
  ) {
    this.#yaml = yaml;
    this.#document = document;
    this.#lines = lines;
    this.#problems = problems;
  }

  build(node: unknown, path: KeyPath): YamlTree {
    const { isAlias, isMap, isSeq } = this.#yaml;
    const line = this.#lineOf(node);
    if (isAlias(node)) return this.#alias(node, path, line);
    if (!isMap(node) && !isSeq(node)) return this.#scalar(node, path, line);
    if (this.#open.has(node))
      return this.#refuse(path, line, "an alias inside its own anchor", "no circle");
    this.#open.add(node);
    const tree: YamlTree = isMap(node)
      ? { kind: "mapping", line, entries: this.#entries(node, path) }
      : {
          kind: "list",
          line,
          items: node.items.map((item, index) => this.build(item, [...path, index])),
        };
    this.#open.delete(node);
    return tree;
  }

  #alias(node: import("yaml").Alias, path: KeyPath, line: number): YamlTree {
    this.#aliases += 1;
    if (this.#aliases > MOST_ALIASES + 1) return { kind: "scalar", line, value: null };
    if (this.#aliases > MOST_ALIASES) {
      return this.#refuse(path, line, "too many aliases", `at most ${MOST_ALIASES}`);
    }
    const target = node.resolve(this.#document);
    if (target === undefined) {
      return this.#refuse(path, line, `*${node.source}`, "an anchor defined before");
    }
    return this.build(target, path);
  }

  #entries(node: import("yaml").YAMLMap, path: KeyPath): Map<string, YamlEntry> {
    const entries = new Map<string, YamlEntry>();
    for (const { key, value } of node.items) {
      const line = this.#lineOf(key);
      const name: unknown = this.#yaml.isScalar(key) ? key.value : key;
      if (typeof name === "string" && name !== "__proto__") {
        entries.set(name, { line, value: this.build(value, [...path, name]) });
      } else {
        this.#refuse(
          path,
          line,
          `the key ${String(name)}`,
          "a key that is text (put it in quotes)",
        );
      }
    }
    return entries;
  }

  #scalar(node: unknown, path: KeyPath, line: number): YamlTree {
    const value: unknown = this.#yaml.isScalar(node) ? node.value : null;
    if (value === null || typeof value === "boolean" || typeof value === "number") {
      return { kind: "scalar", line, value };
    }
    if (typeof value === "string" && !value.includes("\0")) return { kind: "scalar", line, value };
    return this.#refuse(
      path,
      line,
      typeof value === "string" ? showFound(value) : `a ${typeof value}`,
      "text, a number, true, false or nothing",
    );
  }

  #refuse(path: KeyPath, line: number, found: string, expected: string): YamlTree {
    this.#problems.push({ keyPath: renderKeyPath(path), line, found, expected });
    return { kind: "scalar", line, value: null };
  }

  #lineOf(node: unknown): number {
    const start = this.#yaml.isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? 1 : this.#lines.linePos(start).line;
  }
}
