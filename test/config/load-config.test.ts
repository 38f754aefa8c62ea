import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findConfig } from "../../src/config/find-config.ts";
import { loadConfig, loadNearestConfig } from "../../src/config/load-config.ts";
import { ConfigurationError } from "../../src/errors/index.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { tempFolder } from "../support/temp.ts";

/** A fresh folder `a/b/c`, and the paths in it. */
function folders(): { root: string; at: (path: string) => string } {
  const root = tempFolder();
  mkdirSync(join(root, "a/b/c"), { recursive: true });
  return { root, at: (path) => join(root, path) };
}

describe("finding a configuration", () => {
  it("takes the nearest file on the way up", async () => {
    const { at } = folders();
    writeFileSync(at("cofferdam.yaml"), "");
    writeFileSync(at("a/b/cofferdam.yml"), "");
    expect(await findConfig(at("a/b/c"))).toBe(at("a/b/cofferdam.yml"));
    expect(await findConfig(at("a/b"))).toBe(at("a/b/cofferdam.yml"));
    expect(await findConfig(at("a"))).toBe(at("cofferdam.yaml"));
    expect(await findConfig(at("a/missing/folder"))).toBe(at("cofferdam.yaml"));
  });

  it("gives the defaults where there is none", async () => {
    const { at } = folders();
    expect(await findConfig(at("a/b/c"))).toBeNull();
    const config = await loadNearestConfig(at("a/b/c"));
    expect(config).toMatchObject({ file: null, directory: at("a/b/c") });
    expect(config.sandbox.pluginRoots).toEqual([]);
  });

  it("reads what it found, relative to where it found it", async () => {
    const { at } = folders();
    writeFileSync(at("a/cofferdam.yaml"), "resources: { x: { type: fs-file, location: b/x } }");
    const config = await loadNearestConfig(at("a/b/c"));
    expect(config.file).toBe(at("a/cofferdam.yaml"));
    expect(config.resources.get("x")?.location).toBe(at("a/b/x"));
  });

  it("refuses to choose between two in one folder", async () => {
    const { at } = folders();
    writeFileSync(at("a/cofferdam.yaml"), "");
    writeFileSync(at("a/cofferdam.yml"), "");
    const error = await rejection(findConfig(at("a/b")));
    expect(error).toMatchObject({ code: "CONFIGURATION", data: { file: at("a/cofferdam.yaml") } });
  });

  it("does not go past a broken one", async () => {
    const { at } = folders();
    writeFileSync(at("cofferdam.yaml"), "");
    symlinkSync("nowhere", at("a/cofferdam.yaml"));
    expect(await findConfig(at("a/b"))).toBe(at("a/cofferdam.yaml"));
    expect(await rejection(loadNearestConfig(at("a/b")))).toMatchObject({ code: "CONFIGURATION" });
  });
});

describe("reading a configuration", () => {
  it.each([
    ["is missing", () => {}],
    ["is a folder", (file: string) => mkdirSync(file)],
    ["is a pipe that nobody writes to", (file: string) => execFileSync("mkfifo", [file])],
    ["is a device", (file: string) => symlinkSync("/dev/zero", file)],
    ["is not UTF-8", (file: string) => writeFileSync(file, Buffer.from([0x61, 0xff, 0xfe]))],
    ["is far too large", (file: string) => execFileSync("truncate", ["-s", "1G", file])],
    ["is a link to itself", (file: string) => symlinkSync("cofferdam.yaml", file)],
  ])("gives one typed error when the file %s", async (_, make: (file: string) => void) => {
    const file = join(tempFolder(), "cofferdam.yaml");
    make(file);
    const error = await rejection(loadConfig(file));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      code: "CONFIGURATION",
      data: { file, problems: [{ keyPath: "" }] },
    });
  });

  it("reads a sound file, a byte order mark included", async () => {
    const file = join(tempFolder(), "cofferdam.yaml");
    writeFileSync(file, "\uFEFFsandbox: { strategy: none }\n");
    expect((await loadConfig(file)).sandbox.strategy).toBe("none");
  });
});
