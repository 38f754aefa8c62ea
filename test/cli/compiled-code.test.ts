import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Home, coffer, makeHome } from "./coffer.ts";

/** A home whose commands keep what they compile in it. */
function homeWithCache(): { home: Home; cache: string } {
  const home = makeHome();
  const cache = join(home.folder, ".cache/cofferdam");
  return { home: { ...home, env: { ...home.env, XDG_CACHE_HOME: "" } }, cache };
}

function succeed(home: Home, ...args: string[]): void {
  expect(coffer(home, args)).toMatchObject({ code: 0 });
}

function kept(cache: string): string[] {
  return readdirSync(cache).toSorted();
}

/** The file for the engine, and which commands it knows. */
function engineIn(cache: string): { path: string; commands: unknown } {
  const name = kept(cache).find((one) => one.startsWith("engine-")) ?? "";
  const path = join(cache, name);
  const bytes = readFileSync(path);
  const about = bytes.toString("utf8", 0, bytes.indexOf("\n"));
  const { commands } = JSON.parse(about) as { commands: unknown };
  return { path, commands };
}

test("keeps compiled code where only its user can write", () => {
  const { home, cache } = homeWithCache();
  succeed(home, "list");
  expect(statSync(cache).mode & 0o777).toBe(0o700);
  expect(kept(cache).length).toBeGreaterThan(0);
});

test("keeps none where Node is told to keep none", () => {
  const { home, cache } = homeWithCache();
  const env = { NODE_DISABLE_COMPILE_CACHE: "1" };
  expect(coffer(home, ["list"], { env })).toMatchObject({ code: 0 });
  expect(existsSync(cache)).toBe(false);
});

test("reads and writes nothing in a folder that others can write to", () => {
  const { home, cache } = homeWithCache();
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o777);
  succeed(home, "list");
  expect(kept(cache)).toEqual([]);
});

test("works where nothing can be kept", () => {
  const { home, cache } = homeWithCache();
  writeFileSync(join(home.folder, ".cache"), "a file");
  succeed(home, "list");
  expect(existsSync(cache)).toBe(false);
});

test("what a command compiled is there for the next one, and what another one needs comes to it", () => {
  const { home, cache } = homeWithCache();
  succeed(home, "list");
  const first = engineIn(cache);
  expect(first.commands).toEqual(["list"]);
  const { ino } = statSync(first.path);
  succeed(home, "list");
  expect(statSync(first.path).ino).toBe(ino);
  succeed(home, "open", "plan", "-r", ".");
  expect(engineIn(cache)).toEqual({ path: first.path, commands: ["list", "open"] });
  expect(kept(cache).filter((name) => !/^[\w-]+-v[\d.]+-\w+$/.test(name))).toEqual([]);
});

test.each([
  ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
  ["is no such file", () => Buffer.from("something else\n")],
  ["is empty", () => Buffer.alloc(0)],
  [
    "comes from another V8",
    (bytes: Buffer) => {
      const changed = Buffer.from(bytes);
      changed.fill(0x55, changed.indexOf("\n") + 1, changed.indexOf("\n") + 17);
      return changed;
    },
  ],
])("compiles anew and replaces what %s", (_what, change) => {
  const { home, cache } = homeWithCache();
  succeed(home, "list");
  const { path } = engineIn(cache);
  const whole = readFileSync(path);
  writeFileSync(path, change(whole));
  succeed(home, "list");
  expect(engineIn(cache)).toEqual({ path, commands: ["list"] });
  expect(statSync(path).size).toBeGreaterThan(whole.length / 2);
});

test("removes what no version has written for a month", () => {
  const { home, cache } = homeWithCache();
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const [old, recent] = ["engine-old-v20.0.0-x64", "engine-recent-v20.0.0-x64"];
  for (const name of [old, recent]) writeFileSync(join(cache, name), "");
  const then = new Date(Date.now() - 31 * 86_400_000);
  utimesSync(join(cache, old), then, then);
  succeed(home, "list");
  expect(kept(cache)).toContain(recent);
  expect(kept(cache)).not.toContain(old);
});

test("lines of errors are those of the sources where Node is asked for them", () => {
  const { home, cache } = homeWithCache();
  const env = { NODE_OPTIONS: "--enable-source-maps" };
  expect(coffer(home, ["list"], { env })).toMatchObject({ code: 0 });
  expect(kept(cache)).toEqual([]);
});
