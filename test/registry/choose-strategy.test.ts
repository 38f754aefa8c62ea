import { describe, expect, it } from "vitest";
import type { Resource } from "../../src/model/resource.ts";
import { StrategyNotFoundError, UnsupportedStrategyError } from "../../src/errors/index.ts";
import {
  BUILT_IN_RESOURCE_TYPE_NAMES,
  BUILT_IN_STRATEGY_NAMES,
  DEFAULT_STRATEGIES,
  STRATEGY_FITS,
} from "../../src/model/strategy-names.ts";
import { checkNames } from "../../src/registry/check-names.ts";
import { chooseStrategy } from "../../src/registry/choose-strategy.ts";
import { matrixOf } from "../../src/registry/resource-types.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { Project } from "./project.ts";
import type { OpenProject } from "./project.ts";

const directory: Resource = { resourceId: "app", type: "fs-directory", location: "/app" };

async function openWith(configText: string): Promise<OpenProject> {
  const project = new Project();
  project.put("plugin.mjs", strategyModule("esm"));
  return project.open(configText);
}

const CUSTOM = "custom_strategies: { mine: { module: ./plugin.mjs, class: DirectorySnapshot } }";

describe("the most specific setting", () => {
  const type = "resource_types: { fs-directory: { sandbox_strategy: copy_on_write } }";
  const global = "sandbox: { strategy: filesystem_copy }";
  it.each([
    ["the matrix", "", {}, undefined, "overlay", "default"],
    ["sandbox.strategy", global, {}, undefined, "filesystem_copy", "global"],
    ["the resource type", `${global}\n${type}`, {}, undefined, "copy_on_write", "resourceType"],
    [
      "the resource",
      `${global}\n${type}`,
      { sandboxStrategy: "none" },
      undefined,
      "none",
      "resource",
    ],
    ["the call", `${global}\n${type}`, { sandboxStrategy: "none" }, "overlay", "overlay", "call"],
  ])("wins: %s", async (_, text, own, requested, name, chosenBy) => {
    const { config, registry } = await openWith(text);
    const chosen = chooseStrategy({ ...directory, ...own }, config, registry, requested);
    expect(chosen).toEqual({ name, chosenBy });
  });

  it("may be a registered name or module:ClassName at every level", async () => {
    for (const name of ["mine", "./plugin.mjs:DirectorySnapshot"]) {
      const { config, registry } = await openWith(`
sandbox:
  strategy: "${name}"
  ${CUSTOM}
resource_types: { fs-file: { sandbox_strategy: "${name}" } }
resources: { mount: { type: fs-mount, location: m, strategy: "${name}" } }
`);
      const file = { ...directory, type: "fs-file" };
      const mount = config.resources.get("mount") ?? directory;
      expect(chooseStrategy(directory, config, registry)).toEqual({ name, chosenBy: "global" });
      expect(chooseStrategy(file, config, registry)).toEqual({ name, chosenBy: "resourceType" });
      expect(chooseStrategy(mount, config, registry)).toEqual({ name, chosenBy: "resource" });
      expect(chooseStrategy(directory, config, registry, name)).toEqual({ name, chosenBy: "call" });
    }
  });
});

describe("the matrix", () => {
  it("derives from the one list of names: every type has its default and all that fit", async () => {
    const { config } = await openWith("");
    const matrix = matrixOf(config);
    expect([...matrix.keys()]).toEqual(BUILT_IN_RESOURCE_TYPE_NAMES);
    for (const name of BUILT_IN_RESOURCE_TYPE_NAMES) {
      expect(matrix.get(name)).toMatchObject({
        sandboxStrategy: DEFAULT_STRATEGIES[name],
        supportedStrategies: BUILT_IN_STRATEGY_NAMES.filter((strategy) =>
          (STRATEGY_FITS[strategy] as readonly string[]).includes(name),
        ),
      });
    }
    expect(matrix.get("fs-directory")?.supportedStrategies).toContain("overlay");
    expect(matrix.get("git-repository")?.supportedStrategies).toEqual(["git_worktree"]);
  });

  it("refuses what a type's row leaves out, with the allowed ones, and substitutes nothing", async () => {
    const { config, registry } = await openWith(`
sandbox:
  strategy: none
  ${CUSTOM}
resource_types:
  fs-directory: { supported_strategies: [copy_on_write, overlay] }
  store: { sandbox_strategy: mine }
  shelf: { sandbox_strategy: filesystem_copy, supported_strategies: [mine] }
`);
    const refusals: [string, string | undefined, string, string[]][] = [
      ["fs-directory", undefined, "none", ["copy_on_write", "overlay"]],
      ["fs-directory", "mine", "mine", ["copy_on_write", "overlay"]],
      ["store", "overlay", "overlay", ["mine"]],
      ["shelf", "overlay", "overlay", ["mine", "filesystem_copy"]],
      [
        "shelf",
        "./plugin.mjs:DirectorySnapshot",
        "./plugin.mjs:DirectorySnapshot",
        ["mine", "filesystem_copy"],
      ],
    ];
    for (const [type, requested, strategyName, allowed] of refusals) {
      const choice = () => chooseStrategy({ ...directory, type }, config, registry, requested);
      const error = await rejection(choice);
      expect(error).toBeInstanceOf(UnsupportedStrategyError);
      expect(error).toMatchObject({
        code: "UNSUPPORTED_STRATEGY",
        resourceId: "app",
        data: { resourceType: type, strategyName, allowed },
      });
    }
    const accepted: [string, string][] = [
      ["fs-directory", "overlay"],
      ["store", "mine"],
      ["store", "./plugin.mjs:DirectorySnapshot"],
      ["shelf", "filesystem_copy"],
      ["fs-file", "mine"],
    ];
    for (const [type, name] of accepted) {
      const chosen = chooseStrategy({ ...directory, type }, config, registry, name);
      expect(chosen).toEqual({ name, chosenBy: "call" });
    }
  });

  it("takes the first of a row that leaves the usual default out", async () => {
    const { config, registry } = await openWith(
      "resource_types: { fs-directory: { supported_strategies: [none, filesystem_copy] } }",
    );
    expect(chooseStrategy(directory, config, registry)).toEqual({
      name: "none",
      chosenBy: "default",
    });
  });

  it("knows no other types and no other names", async () => {
    const { config, registry } = await openWith("");
    const type = await rejection(() =>
      chooseStrategy({ ...directory, type: "disk" }, config, registry),
    );
    expect(type).toMatchObject({ code: "UNSUPPORTED_STRATEGY", data: { resourceType: "disk" } });
    const name = await rejection(() => chooseStrategy(directory, config, registry, "snapshot"));
    expect(name).toBeInstanceOf(StrategyNotFoundError);
  });
});

describe("names in a configuration", () => {
  it("that nobody registered are all reported, each with key path and known names (R117)", async () => {
    const { config, registry } = await openWith(`
sandbox:
  strategy: overlai
  ${CUSTOM}
resource_types:
  fs-file: { sandbox_strategy: snapshot }
  store: { supported_strategies: [mine, mien] }
resources:
  "a.b": { type: fs-directory, location: a, strategy: nothing }
`);
    const error = await rejection(() => checkNames(config, registry));
    const known = [...BUILT_IN_STRATEGY_NAMES, "mine"];
    const expected = expect.stringContaining(known.join(", ")) as string;
    expect(error).toMatchObject({
      code: "CONFIGURATION",
      data: {
        file: config.file,
        problems: [
          { keyPath: "sandbox.strategy", found: '"overlai"', expected },
          { keyPath: "resource_types.fs-file.sandbox_strategy", found: '"snapshot"', expected },
          { keyPath: "resource_types.store.supported_strategies[1]", found: '"mien"', expected },
          { keyPath: 'resources["a.b"].strategy', found: '"nothing"', expected },
        ],
      },
    });
    expect(error.cause).toBeInstanceOf(StrategyNotFoundError);
    expect(error.cause).toMatchObject({
      data: { name: "overlai", available: known, keyPath: "sandbox.strategy" },
    });
  });

  it("that do not fit their resource are reported as well", async () => {
    const { config, registry } = await openWith(`
sandbox: { strategy: none }
resource_types: { fs-directory: { supported_strategies: [overlay] } }
resources:
  a: { type: fs-directory, location: a }
  b: { type: fs-directory, location: b, strategy: copy_on_write }
  c: { type: fs-file, location: c }
`);
    const error = await rejection(() => checkNames(config, registry));
    expect(error).toMatchObject({
      code: "CONFIGURATION",
      data: { problems: [{ keyPath: "resources.a.type" }, { keyPath: "resources.b.strategy" }] },
    });
    expect(error.cause).toBeInstanceOf(UnsupportedStrategyError);
  });

  it("pass when all are known, a strategy that failed to load included", async () => {
    const project = new Project();
    project.put("broken.mjs", "throw new Error('no')");
    const { config, registry } = await project.open(`
sandbox: { custom_strategies: { broken: { module: ./broken.mjs } } }
resources:
  a: { type: fs-directory, location: a, strategy: broken }
  b: { type: fs-file, location: b, strategy: "./broken.mjs:default" }
`);
    expect(() => checkNames(config, registry)).not.toThrow();
  });
});
