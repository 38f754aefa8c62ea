import { describe, expect, it } from "vitest";
import type { CofferConfig } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { ConfigurationError } from "../../src/errors/index.ts";
import type { ConfigurationProblem } from "../../src/errors/index.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";

const FILE = "/project/cofferdam.yaml";
const parse = (text: string): Promise<CofferConfig> => parseConfig(text, FILE);

async function problemsOf(text: string): Promise<readonly ConfigurationProblem[]> {
  const error = await rejection(parse(text));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ code: "CONFIGURATION", data: { file: FILE } });
  return (error as ConfigurationError).data.problems;
}

describe("a sound file", () => {
  it("is read with every key, and its paths become absolute", async () => {
    const config = await parse(`
version: 1
sandbox:
  strategy: copy_on_write
  plugin_roots: [plugins, /opt/strategies]
  plugin_packages: ["@acme/strategies"]
  custom_strategies:
    tar: { module: ./tar.mjs, class: TarStrategy, options: { level: 9, deep: { list: [1, a] } } }
    other: { module: "@acme/strategies/other" }
    none: { module: ./none.mjs, replace: true }
resource_types:
  fs-file: { sandbox_strategy: filesystem_copy }
  bucket:
    sandbox_strategy: tar
    supported_strategies: [tar, "./plugins/b.mjs:Bucket"]
resources:
  app: { type: fs-directory, location: app, strategy: overlay }
  app.config: { type: fs-file, location: ./app/config.json, parents: [app] }
  store: { type: bucket, location: main-store, properties: { region: eu } }
  near: { type: bucket, location: ../near }
  shop: { type: database, location: main }
connections:
  main: { url: "postgres://app@host/shop", password_file: secrets/shop, answer_seconds: 2.5 }
  plain: { url: "postgres://host/shop" }
publish:
  exclude: ["**/*.log"]
  outward_links: allow
  special_bits: drop
state: { directory: .coffer }
undo: { retention_days: 0.5, max_bytes: 1000 }
limits: { warn_bytes: 5 }
`);
    expect(config).toEqual({
      file: FILE,
      directory: "/project",
      sandbox: {
        strategy: "copy_on_write",
        pluginRoots: ["/project/plugins", "/opt/strategies"],
        pluginPackages: ["@acme/strategies"],
        customStrategies: new Map([
          [
            "tar",
            {
              name: "tar",
              module: "./tar.mjs",
              exportName: "TarStrategy",
              options: { level: 9, deep: { list: [1, "a"] } },
              replace: false,
            },
          ],
          [
            "other",
            {
              name: "other",
              module: "@acme/strategies/other",
              exportName: "default",
              replace: false,
            },
          ],
          ["none", { name: "none", module: "./none.mjs", exportName: "default", replace: true }],
        ]),
      },
      resourceTypes: new Map([
        ["fs-file", { name: "fs-file", sandboxStrategy: "filesystem_copy" }],
        [
          "bucket",
          {
            name: "bucket",
            sandboxStrategy: "tar",
            supportedStrategies: ["tar", "./plugins/b.mjs:Bucket"],
          },
        ],
      ]),
      resources: new Map([
        [
          "app",
          {
            resourceId: "app",
            type: "fs-directory",
            location: "/project/app",
            sandboxStrategy: "overlay",
          },
        ],
        [
          "app.config",
          {
            resourceId: "app.config",
            type: "fs-file",
            location: "/project/app/config.json",
            parents: ["app"],
          },
        ],
        [
          "store",
          {
            resourceId: "store",
            type: "bucket",
            location: "main-store",
            properties: { region: "eu" },
          },
        ],
        ["near", { resourceId: "near", type: "bucket", location: "/near" }],
        ["shop", { resourceId: "shop", type: "database", location: "main" }],
      ]),
      connections: new Map([
        [
          "main",
          {
            url: "postgres://app@host/shop",
            passwordFile: "/project/secrets/shop",
            answerMs: 2500,
          },
        ],
        ["plain", { url: "postgres://host/shop", passwordFile: null }],
      ]),
      publish: { exclude: ["**/*.log"], outwardLinks: "allow", specialBits: "drop" },
      state: { directory: "/project/.coffer" },
      undo: { retentionDays: 0.5, maxBytes: 1000 },
      limits: { warnBytes: 5 },
    });
  });

  it.each(["", "# nothing\n", "---\n", "sandbox:\nresources:\n", "\uFEFF{}"])(
    "that says nothing gives the defaults: %j",
    async (text) => {
      expect(await parse(text)).toEqual({
        file: FILE,
        directory: "/project",
        sandbox: {
          strategy: null,
          customStrategies: new Map(),
          pluginRoots: ["/project"],
          pluginPackages: [],
        },
        resourceTypes: new Map(),
        resources: new Map(),
        connections: new Map(),
        publish: { exclude: [], outwardLinks: "refuse", specialBits: "refuse" },
        state: { directory: null },
        undo: { retentionDays: 14, maxBytes: 5_368_709_120 },
        limits: { warnBytes: null },
      });
    },
  );

  it("may begin with a byte order mark and use anchors", async () => {
    const config = await parse(`\uFEFF
resources:
  a: &a { type: fs-directory, location: a }
  b: *a
`);
    expect(config.resources.get("b")?.location).toBe("/project/a");
  });
});

/** Broken file, then for each problem: key path, line, a part of what was found, a part of what was expected. */
const BROKEN: readonly [string, string, ...[string, number, string, string][]][] = [
  ["a list as root", "- a\n", ["", 1, "a list", "a mapping"]],
  ["text as root", "hello\n", ["", 1, '"hello"', "a mapping"]],
  ["an unknown key", "sandbx: {}\n", ["sandbx", 1, "unknown key", "did you mean sandbox?"]],
  [
    "an unknown key deeper down",
    "sandbox:\n  stratgy: none\n",
    ["sandbox.stratgy", 2, "unknown key", "did you mean strategy?"],
  ],
  ["a number for a name", "sandbox: { strategy: 3 }\n", ["sandbox.strategy", 1, "3", "strategy"]],
  ["an empty name", "sandbox: { strategy: '' }\n", ["sandbox.strategy", 1, '""', "strategy"]],
  ["no value", "sandbox:\n  strategy:\n", ["sandbox.strategy", 2, "nothing", "strategy"]],
  [
    "a mapping for a list",
    "publish: { exclude: {} }",
    ["publish.exclude", 1, "a mapping", "a list"],
  ],
  [
    "a wrong item of a list",
    "publish:\n  exclude:\n    - a\n    - [b]\n",
    ["publish.exclude[1]", 4, "a list", "a pattern"],
  ],
  [
    "a wrong choice",
    "publish: { outward_links: maybe }",
    ["publish.outward_links", 1, '"maybe"', "one of refuse, allow"],
  ],
  ["a negative number", "undo: { max_bytes: -1 }", ["undo.max_bytes", 1, "-1", "whole number"]],
  [
    "a server that may never be silent",
    "connections: { main: { url: 'postgres://host/shop', answer_seconds: 0 } }",
    ["connections.main.answer_seconds", 1, "0", "above 0"],
  ],
  ["a broken number", "undo: { max_bytes: 1.5 }", ["undo.max_bytes", 1, "1.5", "whole number"]],
  [
    "no number at all",
    "undo: { retention_days: .nan }",
    ["undo.retention_days", 1, "NaN", "number"],
  ],
  [
    "too large a number",
    "limits: { warn_bytes: 1e300 }",
    ["limits.warn_bytes", 1, "1e+300", "whole"],
  ],
  ["another version", "version: 2\n", ["version", 1, "2", "1"]],
  ["a tilde", "state: { directory: ~/state }", ["state.directory", 1, '"~/state"', "without ~"]],
  [
    "a package name that is a path",
    "sandbox: { plugin_packages: [../evil] }",
    ["sandbox.plugin_packages[0]", 1, '"../evil"', "name of a package"],
  ],
  [
    "a strategy without a module",
    "sandbox: { custom_strategies: { a: { class: A } } }",
    ["sandbox.custom_strategies.a.module", 1, "nothing", "a package or a file"],
  ],
  [
    "a class that is no identifier",
    "sandbox: { custom_strategies: { a: { module: ./a.mjs, class: a-b } } }",
    ["sandbox.custom_strategies.a.class", 1, '"a-b"', "name of a class"],
  ],
  [
    "a URL as module",
    "sandbox: { custom_strategies: { a: { module: 'https://x/a.mjs' } } }",
    ["sandbox.custom_strategies.a.module", 1, '"https://x/a.mjs"', "a package, or a file"],
  ],
  [
    "a name with a colon",
    "sandbox: { custom_strategies: { 'a:b': { module: ./a.mjs } } }",
    ['sandbox.custom_strategies["a:b"]', 1, "a:b", "a name of letters"],
  ],
  [
    "a URL as strategy",
    "sandbox: { strategy: 'data:text/javascript,1:A' }",
    ["sandbox.strategy", 1, "data:", "never a URL"],
  ],
  [
    "a strategy with nothing behind the colon",
    "resource_types: { fs-file: { sandbox_strategy: './a.mjs:' } }",
    ["resource_types.fs-file.sandbox_strategy", 1, "./a.mjs:", "module:ClassName"],
  ],
  [
    "a type without a strategy",
    "resource_types: { bucket: {} }",
    ["resource_types.bucket", 1, "without a strategy", "sandbox_strategy or"],
  ],
  [
    "a type that supports nothing",
    "resource_types: { bucket: { supported_strategies: [] } }",
    ["resource_types.bucket.supported_strategies", 1, "an empty list", "at least one"],
  ],
  [
    "a resource without type and location",
    "resources:\n  a: {}\n",
    ["resources.a.type", 2, "nothing", "one of fs-directory, fs-file, fs-mount"],
    ["resources.a.location", 2, "nothing", "a path"],
  ],
  [
    "an unknown type",
    "resources:\n  a:\n    location: a\n    type: fs-directry\n",
    ["resources.a.type", 4, '"fs-directry"', "did you mean fs-directory?"],
  ],
  [
    "an unknown parent",
    "resources: { main: { type: fs-file, location: a, parents: [mian] } }",
    ["resources.main.parents[0]", 1, '"mian"', "main"],
  ],
  [
    "a password",
    "resources: { db: { type: fs-file, location: 'pg://me:secret@host/db' } }",
    ["resources.db.location", 1, "a password", "without a password"],
  ],
  [
    "a circle of parents, told once",
    `resources:
  a: { type: fs-file, location: a, parents: [c] }
  b: { type: fs-file, location: b, parents: [a] }
  c: { type: fs-file, location: c, parents: [b] }
  d: { type: fs-file, location: d, parents: [a] }
`,
    ["resources.a", 2, "a → c → b → a", "without a circle"],
  ],
  [
    "a resource that is its own parent",
    "resources: { a: { type: fs-file, location: a, parents: [a] } }",
    ["resources.a", 1, "a → a", "without a circle"],
  ],
  ["a duplicate key", "undo: {}\nundo: {}\n", ["", 2, "unique", "valid YAML"]],
  ["a tab as indentation", "undo:\n\tmax_bytes: 1\n", ["", 2, "abs", "valid YAML"]],
  ["two documents", "undo: {}\n---\nundo: {}\n", ["", 2, "multiple documents", "valid YAML"]],
  ["an unknown tag", "undo: !!js/function 'x'\n", ["", 1, "tag", "valid YAML"]],
  ["an alias without an anchor", "undo: *x\n", ["undo", 1, "*x", "an anchor"]],
  [
    "an anchor around itself",
    "undo: &x { max_bytes: *x }\n",
    ["undo.max_bytes", 1, "alias", "circle"],
  ],
  ["a key that is a number", "resources:\n  7: {}\n", ["resources", 2, "the key 7", "text"]],
  ["a key that is a list", "? [a]\n: 1\n", ["", 1, "the key", "text"]],
  ["the key of the prototype", "__proto__: { a: 1 }\n", ["", 1, "__proto__", "text"]],
  ["a merge key", "resources:\n  a: { <<: 1 }\n", ['resources.a["<<"]', 2, "unknown key", "type"]],
];

describe("a broken file", () => {
  it.each(BROKEN)(
    "is refused for %s, with place, found and expected (R124)",
    async (_, text, ...rows) => {
      const problems = await problemsOf(text);
      const places = rows.map(([keyPath, line]) => ({ keyPath, line }));
      const mentioned = problems.filter(({ keyPath }) => rows.some(([path]) => path === keyPath));
      expect(mentioned.map(({ keyPath, line }) => ({ keyPath, line }))).toEqual(places);
      for (const [index, [, , found, expected]] of rows.entries()) {
        expect(mentioned[index]?.found).toContain(found);
        expect(mentioned[index]?.expected).toContain(expected);
      }
    },
  );

  it("is refused with all its problems at once, in one error that names the file (R124)", async () => {
    const problems = await problemsOf(`
sandbox: { strategy: 1, colour: red }
resources:
  a: { type: nothing, location: 3 }
undo: { retention_days: soon }
extra: 1
`);
    expect(problems.map(({ keyPath }) => keyPath).sort()).toEqual([
      "extra",
      "resources.a.location",
      "resources.a.type",
      "sandbox.colour",
      "sandbox.strategy",
      "undo.retention_days",
    ]);
  });

  it("never shows a password", async () => {
    const text = "resources: { db: { type: nothing, location: 'pg://me:secret@host/db' } }";
    const error = await rejection(parse(text));
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("with aliases that multiply is refused before they are expanded", async () => {
    const levels = Array.from({ length: 30 }, (_, level) => {
      const inner =
        level === 0 ? "x" : Array.from({ length: 10 }, () => `*l${level - 1}`).join(",");
      return `l${level}: &l${level} [${inner}]\n`;
    });
    const problems = await problemsOf(levels.join(""));
    expect(problems.filter(({ found }) => found === "too many aliases")).toHaveLength(1);
  });

  it("nested without end is refused", async () => {
    expect((await problemsOf("[".repeat(100_000))).length).toBeGreaterThan(0);
  });

  it("that takes the name of a built-in strategy must ask for it outright", async () => {
    const text = "sandbox: { custom_strategies: { none: { module: ./a.mjs } } }";
    expect(await problemsOf(text)).toMatchObject([{ keyPath: "sandbox.custom_strategies.none" }]);
  });

  it("with two strategies of one name is refused (R116)", async () => {
    const problems = await problemsOf(`
sandbox:
  custom_strategies:
    tar: { module: ./a.mjs }
    tar: { module: ./b.mjs }
`);
    expect(problems).toMatchObject([{ line: 5, expected: "valid YAML" }]);
  });
});
