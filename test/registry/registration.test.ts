import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { REQUIRED_METHODS } from "../../src/contract/strategy.ts";
import type { StrategyClass } from "../../src/contract/host.ts";
import { StrategyLoadError, StrategyValidationError } from "../../src/errors/index.ts";
import { BUILT_IN_STRATEGY_NAMES } from "../../src/model/strategy-names.ts";
import { StrategyRegistry } from "../../src/registry/strategy-registry.ts";
import { DirectorySnapshot } from "../fixtures/strategies/directory-snapshot.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { markerCode, strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { hostsBelow } from "../fixtures/strategies/test-host.ts";
import { tempFolder } from "../support/temp.ts";
import { Project } from "./project.ts";

/** A module whose class is the complete strategy after the code has changed its prototype. */
const changed = (code: string): string =>
  strategyModule("esm", `const members = DirectorySnapshot.prototype;\n${code}`);

/** The error of the one custom strategy in a project whose module has this text, which must not be registered. */
async function failureOf(text: string, className = "DirectorySnapshot"): Promise<Error> {
  const project = new Project();
  project.put("plugin.mjs", text);
  const { registry, report } = await project.open(`
sandbox: { custom_strategies: { mine: { module: ./plugin.mjs, class: ${className} } } }
`);
  expect(report.loaded).toEqual([]);
  expect(registry.names()).toEqual(BUILT_IN_STRATEGY_NAMES);
  expect(registry.get("mine")).toBeUndefined();
  const [failure] = report.failed;
  expect(failure).toMatchObject({ name: "mine", keyPath: "sandbox.custom_strategies.mine" });
  expect(await rejection(registry.resolve("mine"))).toBe(failure?.error);
  return failure?.error ?? new Error("nothing failed");
}

describe("before it is registered, a class", () => {
  it.each(REQUIRED_METHODS)(
    "without %s is refused, and the registry stays as it was (R112, R275)",
    async (method) => {
      const error = await failureOf(changed(`delete members.${method};`));
      expect(error).toBeInstanceOf(StrategyValidationError);
      expect(error).toMatchObject({
        code: "STRATEGY_VALIDATION",
        data: { missing: [method], notCallable: [], problems: [] },
      });
    },
  );

  it("with several faults has all of them in one error (R112)", async () => {
    const error = await failureOf(
      changed("delete members.read; delete members.cleanup; members.commit = 'later';"),
    );
    expect(error).toMatchObject({
      code: "STRATEGY_VALIDATION",
      data: { missing: ["read", "cleanup"], notCallable: ["commit"], problems: [] },
    });
  });

  it("may inherit its methods, have async ones and assign them to the instance (R113)", async () => {
    const project = new Project();
    project.put(
      "plugin.mjs",
      strategyModule(
        "esm",
        `export class Heir extends DirectorySnapshot {
           cleanup = (ref) => super.cleanup(ref);
           async rollback(ref) { await super.rollback(ref); }
         }`,
      ),
    );
    const { registry, report } = await project.open(`
sandbox: { custom_strategies: { mine: { module: ./plugin.mjs, class: Heir } } }
`);
    expect(report).toEqual({ loaded: ["mine"], failed: [] });
    expect(registry.describe("mine")).toMatchObject({
      name: "mine",
      origin: "custom",
      module: "./plugin.mjs",
      exportName: "Heir",
      status: "loaded",
      capabilities: { isolation: "full", path: true, undoCommit: false, prepare: false },
    });
  });

  it.each([
    ["is not exported", "", "Missing", StrategyLoadError],
    ["is an object", "export const Mine = {};", "Mine", StrategyValidationError],
    ["is an arrow function", "export const Mine = () => {};", "Mine", StrategyValidationError],
    ["is an async function", "export async function Mine() {}", "Mine", StrategyValidationError],
    ["is undefined", "export const Mine = undefined;", "Mine", StrategyValidationError],
    [
      "promises undo without undoCommit",
      "export class Mine extends DirectorySnapshot { capabilities = { undoCommit: true }; }",
      "Mine",
      StrategyValidationError,
    ],
    [
      "promises two phases with one of the methods missing",
      `export class Mine extends DirectorySnapshot {
         capabilities = { prepare: true };
         prepare() {} fence() {} commitPrepared() {} abandonPrepared() {} forget() {}
       }`,
      "Mine",
      StrategyValidationError,
    ],
    [
      "has a capability nobody knows",
      "export class Mine extends DirectorySnapshot { capabilities = { undoable: true }; }",
      "Mine",
      StrategyValidationError,
    ],
  ])("that %s is refused (R113)", async (_, code, className, errorClass) => {
    expect(await failureOf(strategyModule("esm", code), className)).toBeInstanceOf(errorClass);
  });

  it("whose constructor throws is refused with what it threw (R113)", async () => {
    const thrown = "export const thrown = new RangeError('no');";
    const code = `${thrown} export class Mine { constructor() { throw thrown; } }`;
    const error = await failureOf(code, "Mine");
    expect(error).toBeInstanceOf(StrategyValidationError);
    expect(error.cause).toBeInstanceOf(RangeError);
  });
});

describe("names", () => {
  it("are taken once, unless a replacement is asked for (R116)", async () => {
    const { registry } = await new Project().open();
    class Second extends DirectorySnapshot {}
    await registry.register("mine", DirectorySnapshot);
    const first = await registry.resolve("mine");
    for (const name of ["mine", "none", "overlay"]) {
      const error = await rejection(registry.register(name, Second));
      expect(error).toBeInstanceOf(StrategyLoadError);
      expect(error).toMatchObject({ code: "STRATEGY_LOAD", data: { reason: "taken" } });
    }
    expect(await registry.resolve("mine")).toBe(first);
    expect(await registry.resolve("none")).not.toBeInstanceOf(Second);
    await registry.register("mine", Second, { replace: true });
    await registry.register("none", Second, { replace: true });
    expect(await registry.resolve("mine")).toBeInstanceOf(Second);
    expect(await registry.resolve("none")).toBeInstanceOf(Second);
    expect(registry.describe("none").origin).toBe("custom");
  });

  it("are refused in a configuration as well, and replaced when it says so (R116)", async () => {
    const project = new Project();
    project.put("plugin.mjs", strategyModule("esm"));
    const setting = (replace: string): string => `
sandbox: { custom_strategies: { none: { module: ./plugin.mjs, class: DirectorySnapshot${replace} } } }
`;
    const error = await rejection(project.open(setting("")));
    expect(error).toMatchObject({ code: "CONFIGURATION" });
    const { registry } = await project.open(setting(", replace: true"));
    expect(registry.describe("none")).toMatchObject({ origin: "custom", module: "./plugin.mjs" });
  });

  it("go to one of two registrations at the same time (R116)", async () => {
    const { registry } = await new Project().open();
    const attempts = [1, 2, 3].map(() => registry.register("mine", DirectorySnapshot));
    const settled = await Promise.allSettled(attempts);
    expect(settled.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
    ]);
  });

  it.each(["a:b", "", "a b", "__proto__", "1st", "a/b", "a\0"])("cannot be %j", async (name) => {
    const { registry } = await new Project().open();
    const error = await rejection(registry.register(name, DirectorySnapshot));
    expect(error).toMatchObject({ code: "STRATEGY_VALIDATION" });
    expect(registry.names()).toEqual(BUILT_IN_STRATEGY_NAMES);
  });

  it("that nobody registered are told together with the available ones", async () => {
    const { registry } = await new Project().open();
    for (const name of ["snapshot", "constructor", "overlai", ""]) {
      const error = await rejection(registry.resolve(name));
      expect(error).toMatchObject({
        code: "STRATEGY_NOT_FOUND",
        data: { name, available: BUILT_IN_STRATEGY_NAMES },
      });
      expect(registry.has(name)).toBe(false);
    }
  });

  it("keep a failed replacement from being replaced by the original in silence", async () => {
    const project = new Project();
    project.put("plugin.mjs", "throw new Error('no')");
    const { registry, report } = await project.open(`
sandbox: { custom_strategies: { none: { module: ./plugin.mjs, replace: true } } }
`);
    expect(await rejection(registry.resolve("none"))).toBe(report.failed[0]?.error);
    expect(registry.names()).not.toContain("none");
    await registry.register("none", DirectorySnapshot);
    expect(await registry.resolve("none")).toBeInstanceOf(DirectorySnapshot);
  });
});

describe("loading", () => {
  it("of the second of three fails without keeping the others away (R118)", async () => {
    const project = new Project();
    project.put("first.mjs", strategyModule("esm"));
    project.put("second.mjs", "throw new RangeError('on import')");
    project.put("third.mjs", strategyModule("esm"));
    const { registry, report } = await project.open(`
sandbox:
  custom_strategies:
    first: { module: ./first.mjs, class: DirectorySnapshot }
    second: { module: ./second.mjs, class: DirectorySnapshot }
    third: { module: ./third.mjs, class: DirectorySnapshot }
resources:
  a: { type: fs-directory, location: a, strategy: "./second.mjs:DirectorySnapshot" }
`);
    expect(report.loaded).toEqual(["first", "third"]);
    expect(report.failed.map(({ name, keyPath }) => ({ name, keyPath }))).toEqual([
      { name: "second", keyPath: "sandbox.custom_strategies.second" },
      { name: "./second.mjs:DirectorySnapshot", keyPath: "resources.a.strategy" },
    ]);
    expect(report.failed[0]?.error).toBeInstanceOf(StrategyLoadError);
    expect(report.failed[0]?.error.cause).toBeInstanceOf(RangeError);
    expect(registry.names()).toEqual([...BUILT_IN_STRATEGY_NAMES, "first", "third"]);
    expect(registry.list().map(({ name, status }) => [name, status])).toContainEqual([
      "second",
      "failed",
    ]);
  });

  it("imports and validates a module once, also for calls at the same time (R123)", async () => {
    const project = new Project();
    const marker = join(project.outer, "marker");
    const made = join(project.outer, "made");
    const code = `export class Mine extends DirectorySnapshot {
      constructor(...all) { super(...all); leaveMarker(${JSON.stringify(made)}, "made\\n"); }
    }`;
    for (const form of ["esm", "commonjs", "typescript"] as const) {
      const extension = { esm: "mjs", commonjs: "cjs", typescript: "mts" }[form];
      const counted = `${markerCode(`${marker}-${form}`)}${code.replaceAll(made, `${made}-${form}`)}`;
      const text = strategyModule(
        form,
        form === "typescript" ? `// @ts-nocheck\n${counted}` : counted,
      );
      project.put(`plugin.${extension}`, text);
      const { registry } = await project.open();
      const name = `./plugin.${extension}:Mine`;
      const all = await Promise.all([1, 2, 3, 4].map(() => registry.resolve(name)));
      all.push(await registry.resolve(name), await registry.resolve(name));
      expect(new Set(all).size).toBe(1);
      expect(registry.get(name)).toBe(all[0]);
      expect(readFileSync(`${marker}-${form}`, "utf8")).toBe("run\n");
      expect(readFileSync(`${made}-${form}`, "utf8")).toBe("made\n");
    }
  });

  it("hands the options of the configuration to the class", async () => {
    const project = new Project();
    project.put("plugin.mjs", strategyModule("esm"));
    const { registry } = await project.open(`
sandbox:
  custom_strategies:
    mine: { module: ./plugin.mjs, class: DirectorySnapshot, options: { level: 9, list: [a] } }
`);
    expect(await registry.resolve("mine")).toMatchObject({ options: { level: 9, list: ["a"] } });
  });

  it("puts the same guard around built-in and custom strategies, after validation", async () => {
    const guarded: string[] = [];
    const registry = new StrategyRegistry({
      builtIns: { none: () => Promise.resolve(DirectorySnapshot) },
      hostFor: hostsBelow(tempFolder()),
      wrap: (strategy, name) => {
        guarded.push(name);
        return Object.create(strategy) as typeof strategy;
      },
    });
    await registry.register("mine", DirectorySnapshot);
    class Broken {
      readonly create = "never";
    }
    await rejection(registry.register("broken", Broken as unknown as StrategyClass));
    for (const name of ["none", "mine"]) {
      expect(Object.hasOwn(await registry.resolve(name), "host")).toBe(false);
    }
    expect(guarded).toEqual(["mine", "none"]);
  });

  it("validates built-in classes when they are first used, and tries again after a failure", async () => {
    let isBroken = true;
    class Broken {
      readonly create = "never";
    }
    const registry = new StrategyRegistry({
      builtIns: {
        none: () =>
          Promise.resolve(isBroken ? (Broken as unknown as StrategyClass) : DirectorySnapshot),
      },
      hostFor: hostsBelow(tempFolder()),
    });
    expect(registry.describe("none")).toMatchObject({ status: "notLoaded", capabilities: null });
    expect(registry.get("none")).toBeUndefined();
    const error = await rejection(registry.resolve("none"));
    expect(error).toBeInstanceOf(StrategyValidationError);
    expect(registry.describe("none")).toMatchObject({
      origin: "built-in",
      status: "failed",
      error,
    });
    isBroken = false;
    await registry.resolve("none");
    expect(registry.describe("none")).toMatchObject({ status: "loaded" });
  });

  it("of a module needs a loader", async () => {
    const registry = new StrategyRegistry({ builtIns: {}, hostFor: hostsBelow(tempFolder()) });
    const error = await rejection(registry.resolve("./a.mjs:A"));
    expect(error).toMatchObject({ code: "STRATEGY_LOAD", data: { reason: "notAllowed" } });
  });
});
