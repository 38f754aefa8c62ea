import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { StrategyLoadError } from "../../src/errors/index.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { markerCode, strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { Project } from "./project.ts";
import type { OpenProject } from "./project.ts";

/** A project beside a module that is complete, leaves a mark when it is run, and lies outside the allowed folders. */
class Attack extends Project {
  readonly marker = join(this.outer, "marker");
  readonly text = strategyModule("esm", markerCode(this.marker));
  readonly outside = join(this.outer, "outside");

  constructor() {
    super();
    mkdirSync(this.outside);
    writeFileSync(join(this.outside, "evil.mjs"), this.text);
    writeFileSync(
      join(this.outside, "evil.ts"),
      strategyModule("typescript", markerCode(this.marker)),
    );
  }

  /** Why the name was refused, given that nothing was run. */
  async refusal({ registry }: OpenProject, name: string): Promise<unknown> {
    const error = await rejection(registry.resolve(name));
    expect(error).toBeInstanceOf(StrategyLoadError);
    expect(existsSync(this.marker)).toBe(false);
    return (error as StrategyLoadError).data.reason;
  }

  /** Whether the name can be loaded and was run. */
  async runs({ registry }: OpenProject, name: string): Promise<boolean> {
    await registry.resolve(name);
    return readFileSync(this.marker, "utf8") === "run\n";
  }
}

describe("nothing outside the allowed folders and packages is imported", () => {
  it("refuses ways out of the folder, absolute paths included (R119)", async () => {
    const attack = new Attack();
    const open = await attack.open();
    const names = [
      "../outside/evil.mjs:DirectorySnapshot",
      "./../outside/evil.mjs:DirectorySnapshot",
      "./x/../../outside/evil.mjs:DirectorySnapshot",
      "../outside/evil.ts:DirectorySnapshot",
      `${attack.outside}/evil.mjs:DirectorySnapshot`,
      `//${attack.outside}/evil.mjs:DirectorySnapshot`,
      "../outside/missing.mjs:DirectorySnapshot",
    ];
    for (const name of names) expect(await attack.refusal(open, name)).toBe("notAllowed");
  });

  it("refuses a neighbour whose name only begins like an allowed folder (R119)", async () => {
    const attack = new Attack();
    mkdirSync(`${attack.folder}-evil`);
    writeFileSync(`${attack.folder}-evil/evil.mjs`, attack.text);
    const open = await attack.open();
    const name = "../project-evil/evil.mjs:DirectorySnapshot";
    expect(await attack.refusal(open, name)).toBe("notAllowed");
  });

  it("refuses links that lead out, to files and through folders (R119)", async () => {
    const attack = new Attack();
    symlinkSync("../outside/evil.mjs", join(attack.folder, "link.mjs"));
    symlinkSync("../outside", join(attack.folder, "folder"));
    symlinkSync("link.mjs", join(attack.folder, "chain.mjs"));
    symlinkSync("circle.mjs", join(attack.folder, "circle.mjs"));
    const open = await attack.open();
    for (const file of ["link.mjs", "folder/evil.mjs", "chain.mjs", "folder/evil.ts"]) {
      expect(await attack.refusal(open, `./${file}:DirectorySnapshot`)).toBe("notAllowed");
    }
    expect(await attack.refusal(open, "./circle.mjs:DirectorySnapshot")).toBe("notFound");
  });

  it("refuses URLs of every kind (R119)", async () => {
    const attack = new Attack();
    const open = await attack.open();
    const code = encodeURIComponent(attack.text);
    const names = [
      `data:text/javascript,${code}:DirectorySnapshot`,
      `DATA:text/javascript,${code}:DirectorySnapshot`,
      `${pathToFileURL(join(attack.outside, "evil.mjs")).href}:DirectorySnapshot`,
      "https://127.0.0.1:9/evil.mjs:DirectorySnapshot",
      "http://127.0.0.1:9/evil.mjs",
      "node:fs:ReadStream",
      "node:fs",
      "npm:evil:DirectorySnapshot",
      "blob:nodedata:0:A",
      "ws://127.0.0.1/a:A",
      "file:../outside/evil.mjs:DirectorySnapshot",
    ];
    for (const name of names) expect(await attack.refusal(open, name)).toBe("notAllowed");
  });

  it("refuses URLs that are given apart from the class (R119)", async () => {
    const attack = new Attack();
    const { registry } = await attack.open();
    const modules = [
      `data:text/javascript,${encodeURIComponent(attack.text)}`,
      pathToFileURL(join(attack.outside, "evil.mjs")).href,
      "node:fs",
      "https://127.0.0.1:9/evil.mjs",
      "anything:else",
    ];
    for (const module of modules) {
      const registration = registry.register("mine", { module, exportName: "DirectorySnapshot" });
      const error = await rejection(registration);
      expect(error).toMatchObject({
        code: "STRATEGY_LOAD",
        data: { module, reason: "notAllowed" },
      });
    }
    expect(existsSync(attack.marker)).toBe(false);
    expect(registry.has("mine")).toBe(false);
  });

  it("refuses them as custom strategies of a configuration as well (R119)", async () => {
    const attack = new Attack();
    const { report } = await attack.open(`
sandbox:
  custom_strategies:
    up: { module: ../outside/evil.mjs, class: DirectorySnapshot }
    package: { module: evil, class: DirectorySnapshot }
`);
    expect(report.failed.map(({ name }) => name)).toEqual(["up", "package"]);
    for (const { error } of report.failed) {
      expect(error).toMatchObject({ code: "STRATEGY_LOAD", data: { reason: "notAllowed" } });
    }
    expect(existsSync(attack.marker)).toBe(false);
  });

  it("refuses packages that are not listed, by name and by path (R119)", async () => {
    const attack = new Attack();
    attack.put("node_modules/evil/index.mjs", attack.text);
    attack.put("node_modules/evil/package.json", `{"name":"evil","main":"index.mjs"}`);
    const open = await attack.open("sandbox: { plugin_packages: [evi, evil2] }");
    const names = [
      "evil:DirectorySnapshot",
      "evil/index.mjs:DirectorySnapshot",
      "./node_modules/evil/index.mjs:DirectorySnapshot",
    ];
    for (const name of names) expect(await attack.refusal(open, name)).toBe("notAllowed");
    const listed = await attack.open("sandbox: { plugin_packages: [evil] }");
    expect(await attack.runs(listed, "evil:DirectorySnapshot")).toBe(true);
  });

  it("refuses files that a listed package leads to outside of itself (R119)", async () => {
    const attack = new Attack();
    attack.put(
      "node_modules/main/package.json",
      `{"name":"main","main":"../../../outside/evil.mjs"}`,
    );
    attack.put("node_modules/link/package.json", `{"name":"link","main":"index.mjs"}`);
    symlinkSync("../../../outside/evil.mjs", join(attack.folder, "node_modules/link/index.mjs"));
    attack.put("node_modules/fs/package.json", `{"name":"fs","main":"index.mjs"}`);
    attack.put("node_modules/fs/index.mjs", attack.text);
    const open = await attack.open("sandbox: { plugin_packages: [main, link, fs, gone] }");
    expect(await attack.refusal(open, "main:DirectorySnapshot")).toBe("notAllowed");
    expect(await attack.refusal(open, "link:DirectorySnapshot")).toBe("notAllowed");
    expect(await attack.refusal(open, "fs:ReadStream")).toBe("notAllowed");
    expect(await attack.refusal(open, "gone:DirectorySnapshot")).toBe("notFound");
  });

  it("follows a listed package that is itself a link, as workspaces have it", async () => {
    const attack = new Attack();
    writeFileSync(join(attack.outside, "package.json"), `{"name":"linked","main":"evil.mjs"}`);
    mkdirSync(join(attack.folder, "node_modules"));
    symlinkSync("../../outside", join(attack.folder, "node_modules/linked"));
    const closed = await attack.open();
    expect(await attack.refusal(closed, "linked:DirectorySnapshot")).toBe("notAllowed");
    const open = await attack.open("sandbox: { plugin_packages: [linked] }");
    expect(await attack.runs(open, "linked:DirectorySnapshot")).toBe(true);
  });

  it("allows exactly the folders that the configuration names (R119)", async () => {
    const attack = new Attack();
    attack.put("inside.mjs", attack.text);
    const open = await attack.open("sandbox: { plugin_roots: [../outside] }");
    expect(await attack.refusal(open, "./inside.mjs:DirectorySnapshot")).toBe("notAllowed");
    expect(await attack.runs(open, "../outside/evil.mjs:DirectorySnapshot")).toBe(true);
  });

  it("allows a folder that is reached through a link, and a hard link inside it", async () => {
    const attack = new Attack();
    symlinkSync(attack.outside, join(attack.outer, "alias"));
    linkSync(join(attack.outside, "evil.mjs"), join(attack.outside, "second.mjs"));
    const open = await attack.open("sandbox: { plugin_roots: [../alias] }");
    expect(await attack.runs(open, "../alias/second.mjs:DirectorySnapshot")).toBe(true);
  });

  it("never opens what is not a file", async () => {
    const attack = new Attack();
    execFileSync("mkfifo", [join(attack.folder, "pipe.mjs")]);
    const open = await attack.open();
    expect(await attack.refusal(open, "./pipe.mjs:DirectorySnapshot")).toBe("notFound");
  });

  it("has nothing to load from when there is no configuration", async () => {
    const attack = new Attack();
    attack.put("inside.mjs", attack.text);
    const open = await attack.open("sandbox: { plugin_roots: [] }");
    expect(await attack.refusal(open, "./inside.mjs:DirectorySnapshot")).toBe("notAllowed");
  });
});
