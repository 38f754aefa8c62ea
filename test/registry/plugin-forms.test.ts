import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { StrategyLoadError } from "../../src/errors/index.ts";
import type { DirectorySnapshot } from "../fixtures/strategies/directory-snapshot.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { markerCode, strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { Project } from "./project.ts";

const DEFAULT_EXPORT = "export default DirectorySnapshot;";

/** A module of each form, and how it is named. */
const FORMS: readonly [form: string, file: string, text: string, name: string][] = [
  ["an ES module", "p.mjs", strategyModule("esm"), "./p.mjs:DirectorySnapshot"],
  ["an ES default", "p.mjs", strategyModule("esm", DEFAULT_EXPORT), "./p.mjs:default"],
  ["a CommonJS module", "p.cjs", strategyModule("commonjs"), "./p.cjs:DirectorySnapshot"],
  ["plain .js", "p.js", strategyModule("commonjs"), "./p.js:DirectorySnapshot"],
  ["a compiled default", "p.cjs", strategyModule("commonjs", DEFAULT_EXPORT), "./p.cjs:default"],
  [
    "module.exports",
    "p.cjs",
    `${strategyModule("commonjs")}\nmodule.exports = DirectorySnapshot;`,
    "./p.cjs:default",
  ],
  [
    "exports that Node cannot see",
    "p.cjs",
    `${strategyModule("commonjs")}\nmodule.exports = Object.fromEntries([["Hidden", DirectorySnapshot]]);`,
    "./p.cjs:Hidden",
  ],
  ["TypeScript", "p.ts", strategyModule("typescript"), "./p.ts:DirectorySnapshot"],
  [
    "a TypeScript default",
    "p.mts",
    strategyModule("typescript", DEFAULT_EXPORT),
    "./p.mts:default",
  ],
  [
    "a CommonJS file in TypeScript",
    "p.cts",
    `${strategyModule("commonjs")}\nmodule.exports = DirectorySnapshot as unknown;`,
    "./p.cts:default",
  ],
  ["a folder below", "a/b/p.mjs", strategyModule("esm"), "./a/b/p.mjs:DirectorySnapshot"],
  ["a way up and down", "p.mjs", strategyModule("esm"), "../project/p.mjs:DirectorySnapshot"],
  ["several colons", "a:b/c:d.mjs", strategyModule("esm"), "./a:b/c:d.mjs:DirectorySnapshot"],
  [
    "a name like a URL's end",
    "p#q?r%20.mjs",
    strategyModule("esm"),
    "./p#q?r%20.mjs:DirectorySnapshot",
  ],
  [
    "TypeScript with colons",
    "a:b/c:d.ts",
    strategyModule("typescript"),
    "./a:b/c:d.ts:DirectorySnapshot",
  ],
];

describe("module:ClassName", () => {
  it.each(FORMS)("loads %s (R109)", async (_, file, text, name) => {
    const project = new Project();
    project.put(file, text);
    const { registry } = await project.open();
    const strategy = (await registry.resolve(name)) as DirectorySnapshot;
    expect(strategy.host.strategyName).toBe(name);
    expect(registry.get(name)).toBe(strategy);
    const real = project.put("resource/a.txt", "one");
    const ref = await strategy.create("plan", {
      resourceId: "r",
      type: "fs-directory",
      location: join(real, ".."),
    });
    expect(Buffer.from(await strategy.read(ref, "a.txt")).toString()).toBe("one");
  });

  it("loads packages: ES-only exports, subpaths, scopes, CommonJS mains (R109)", async () => {
    const project = new Project();
    const { put } = { put: project.put.bind(project) };
    put(
      "node_modules/@acme/modern/package.json",
      JSON.stringify({
        name: "@acme/modern",
        type: "module",
        exports: { ".": { import: "./main.js" }, "./sub/*": "./lib/*.js" },
      }),
    );
    put("node_modules/@acme/modern/main.js", strategyModule("esm", DEFAULT_EXPORT));
    put("node_modules/@acme/modern/lib/x.js", strategyModule("esm"));
    put("node_modules/old/package.json", JSON.stringify({ name: "old", main: "index.js" }));
    put("node_modules/old/index.js", strategyModule("commonjs"));
    put("../node_modules/hoisted/package.json", JSON.stringify({ name: "hoisted" }));
    put("../node_modules/hoisted/index.js", strategyModule("commonjs"));
    const { registry } = await project.open(`
sandbox: { plugin_packages: ["@acme/modern", old, hoisted] }
`);
    const names = [
      "@acme/modern:DirectorySnapshot",
      "@acme/modern:default",
      "@acme/modern/sub/x:DirectorySnapshot",
      "old:DirectorySnapshot",
      "hoisted:DirectorySnapshot",
    ];
    for (const name of names) {
      await registry.resolve(name);
      expect(registry.describe(name)).toMatchObject({ name, origin: "custom", status: "loaded" });
    }
    const error = await rejection(registry.resolve("@acme/modern/hidden:DirectorySnapshot"));
    expect(error).toMatchObject({ code: "STRATEGY_LOAD", data: { reason: "notFound" } });
  });

  it("is relative to the configuration file, not to the working directory (R109)", async () => {
    const project = new Project();
    project.put("p.mjs", strategyModule("esm"));
    const { registry } = await project.open();
    expect(existsSync("p.mjs")).toBe(false);
    expect(await registry.resolve("./p.mjs:DirectorySnapshot")).toBeDefined();
  });

  it.each([
    "./p.mjs:",
    ":DirectorySnapshot",
    ":",
    "./p.mjs:a-b",
    "./p.mjs:a b",
    "./p.mjs:1st",
    "./p.mjs:A.B",
    "./p\0.mjs:A",
    "#inner:A",
    "UPPER CASE:A",
    "pkg/../../p.mjs:A",
    "@scope:A",
  ])("is refused when malformed: %j (R109)", async (name) => {
    const { registry } = await new Project().open();
    const error = await rejection(registry.resolve(name));
    expect(error).toBeInstanceOf(StrategyLoadError);
    expect(error).toMatchObject({
      code: "STRATEGY_LOAD",
      strategyName: name,
      data: { reason: "malformed" },
    });
  });

  it("tells what is wrong with a module: missing, throwing, without the export", async () => {
    const project = new Project();
    const marker = join(project.outer, "marker");
    const throwing = (extension: string): string =>
      `${markerCode(`${marker}.${extension}`)}throw new RangeError("on import");`;
    project.put("throws.mjs", throwing("mjs"));
    project.put("throws.cjs", transformSync(throwing("cjs"), { format: "cjs" }).code);
    project.put("throws.ts", throwing("ts"));
    project.put("syntax.mjs", "export class {");
    project.put("lonely.mjs", `import "./nowhere.mjs"; export class A {}`);
    project.put("other.mjs", "export class Other {}; export const constructor = 1;");
    project.put("folder.mjs/inside.mjs", "");
    project.put("data.json", "{}");
    const { registry } = await project.open();
    const reasonOf = async (name: string): Promise<unknown> => {
      const error = await rejection(registry.resolve(name));
      expect(error).toBeInstanceOf(StrategyLoadError);
      return (error as StrategyLoadError).data.reason;
    };
    expect(await reasonOf("./missing.mjs:A")).toBe("notFound");
    expect(await reasonOf("./folder.mjs:A")).toBe("notFound");
    expect(await reasonOf("./data.json:A")).toBe("notAllowed");
    expect(await reasonOf("./syntax.mjs:A")).toBe("failed");
    expect(await reasonOf("./lonely.mjs:A")).toBe("failed");
    expect(await reasonOf("./other.mjs:A")).toBe("noExport");
    expect(await reasonOf("./other.mjs:default")).toBe("noExport");
    expect(await reasonOf("./other.mjs:toString")).toBe("noExport");
    for (const extension of ["mjs", "cjs", "ts"]) {
      const name = `./throws.${extension}:A`;
      const error = await rejection(registry.resolve(name));
      expect(error).toMatchObject({ code: "STRATEGY_LOAD", data: { reason: "failed" } });
      expect(error.cause).toBeInstanceOf(RangeError);
      const again = await rejection(registry.resolve(name));
      expect(again.cause).toBe(error.cause);
      expect(readFileSync(`${marker}.${extension}`, "utf8")).toBe("run\n");
      expect(registry.describe(name).status).toBe("failed");
    }
    expect(registry.names()).not.toContain("./throws.mjs:A");
  });

  it("can be tried again after a missing file was added", async () => {
    const project = new Project();
    const { registry } = await project.open();
    await rejection(registry.resolve("./late.mjs:DirectorySnapshot"));
    writeFileSync(join(project.folder, "late.mjs"), strategyModule("esm"));
    expect(await registry.resolve("./late.mjs:DirectorySnapshot")).toBeDefined();
  });

  it("leaves nothing on disk when TypeScript is loaded", async () => {
    const project = new Project();
    project.put("p.ts", strategyModule("typescript"));
    const { registry } = await project.open();
    project.put("node_modules/.cache/other", "");
    const caches = [join(tmpdir(), "jiti"), join(tmpdir(), "jiti-esm"), "node_modules/.cache/jiti"];
    const everything = (): unknown => [
      execFileSync("find", [project.outer], { encoding: "utf8" }),
      caches.filter((folder) => existsSync(folder)),
    ];
    const before = everything();
    await registry.resolve("./p.ts:DirectorySnapshot");
    expect(everything()).toEqual(before);
  });
});
