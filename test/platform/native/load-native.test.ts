import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { PlatformUnsupportedError } from "../../../src/errors/index.ts";
import { loadNative } from "../../../src/platform/native/index.ts";
import { syscallNumbersFor } from "../../../src/platform/native/load-native.ts";
import { run } from "../../../src/platform/run.ts";
import { tempFolder } from "../../support/temp.ts";

const dist = fileURLToPath(new URL("../../../dist/", import.meta.url));
const native = pathToFileURL(join(dist, "platform/native/index.js")).href;

/** Runs an ES module in a Node process of its own and gives what it wrote. */
async function runModule(text: string, nodeArgs: readonly string[] = []): Promise<unknown> {
  const file = join(tempFolder(), "program.mjs");
  writeFileSync(file, text);
  const { stdout, stderr, exitCode } = await run(process.execPath, [...nodeArgs, file]);
  expect(stderr.toString()).toBe("");
  expect(exitCode).toBe(0);
  return JSON.parse(stdout.toString()) as unknown;
}

const ATTEMPT = `
  try { loadNative(); console.log(JSON.stringify("loaded")); }
  catch (error) { console.log(JSON.stringify({ ...error.toJSON(), kind: error.constructor.name })); }`;

test("loads once for a thread", () => {
  expect(loadNative()).toBe(loadNative());
});

test("loads nothing before the first call", async () => {
  const program = `
    import { readFileSync } from "node:fs";
    const { syncfs } = await import(${JSON.stringify(native)});
    const loaded = () => readFileSync("/proc/self/maps", "utf8").includes("koffi");
    const before = loaded();
    syncfs(0);
    console.log(JSON.stringify([before, loaded()]));`;
  expect(await runModule(program)).toEqual([false, true]);
});

/** Copies the package, with koffi where the test wants it, and gives the text of a program that loads it there. */
function programIn(folder: string, layout: Readonly<Record<string, string>>): string {
  for (const part of ["platform/native", "chunks"])
    cpSync(join(dist, part), join(folder, "dist", part), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const [to, from] of Object.entries(layout))
    cpSync(join(dirname(dist), "node_modules", from), join(folder, "node_modules", to), {
      recursive: true,
    });
  const copy = pathToFileURL(join(folder, "dist/platform/native/index.js")).href;
  return `
    import { createRequire } from "node:module";
    import { basename } from "node:path";
    import { statFd } from ${JSON.stringify(copy)};
    const { type } = statFd(0);
    const { cache } = createRequire(import.meta.url);
    const names = Object.keys(cache).filter((path) => path.includes("/node_modules/"));
    console.log(JSON.stringify({ type: typeof type, names: names.map((path) => basename(path)) }));`;
}

test("loads the binary of koffi alone where it lies beside it", async () => {
  const program = programIn(tempFolder(), { koffi: "koffi", "@koromix": "@koromix" });
  expect(await runModule(program)).toEqual({ type: "string", names: ["koffi.node"] });
});

test("leaves it to koffi to find its binary elsewhere", async () => {
  const program = programIn(tempFolder(), {
    koffi: "koffi",
    "koffi/node_modules/@koromix": "@koromix",
  });
  const { type, names } = (await runModule(program)) as { type: string; names: string[] };
  expect(type).toBe("string");
  expect(names).toEqual(expect.arrayContaining(["index.cjs", "koffi.node"]));
});

test("leaves it to koffi to refuse a binary of another version", async () => {
  const folder = tempFolder();
  const program = programIn(folder, { koffi: "koffi", "@koromix": "@koromix" });
  const manifest = join(folder, "node_modules/koffi/package.json");
  const text = readFileSync(manifest, "utf8");
  writeFileSync(manifest, text.replace(/"version": "[^"]*"/, '"version": "0.0.0"'));
  const { names } = (await runModule(program)) as { names: string[] };
  expect(names).toContain("index.cjs");
});

test("works in worker threads, several at a time", async () => {
  const program = `
    import { mkdtempSync, openSync, writeFileSync } from "node:fs";
    import { parentPort, workerData } from "node:worker_threads";
    const { renameAt, statAt, RENAME, readDirectory } = await import(workerData.native);
    const folder = mkdtempSync(workerData.folder + "/w-");
    const fd = openSync(folder, "r");
    for (let i = 0; i < 200; i++) writeFileSync(folder + "/" + i, "x".repeat(i));
    for (let i = 0; i < 199; i++) renameAt(fd, String(i), fd, String(i + 1), RENAME.exchange);
    let failures = 0;
    for (let i = 0; i < 1000; i++) try { statAt(fd, "absent"); } catch (error) { if (error.code === "ENOENT") failures++; }
    parentPort.postMessage([readDirectory(fd).length, Number(statAt(fd, "199").size), Number(statAt(fd, "3").size), failures]);`;
  const folder = tempFolder();
  const file = join(folder, "worker.mjs");
  writeFileSync(file, program);
  const results = Array.from({ length: 3 }, () => {
    const worker = new Worker(file, { workerData: { native, folder } });
    onTestFinished(async () => void (await worker.terminate()));
    return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  });
  expect(await Promise.all(results)).toEqual([1, 2, 3].map(() => [200, 0, 4, 1000]));
});

test("says PLATFORM_UNSUPPORTED with the cause where the library is missing", async () => {
  const folder = tempFolder();
  for (const part of ["platform/native", "chunks"]) {
    cpSync(join(dist, part), join(folder, "dist", part), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const copy = pathToFileURL(join(folder, "dist/platform/native/index.js")).href;
  expect(
    await runModule(`import { loadNative } from ${JSON.stringify(copy)};${ATTEMPT}`),
  ).toMatchObject({
    kind: "PlatformUnsupportedError",
    code: "PLATFORM_UNSUPPORTED",
    data: { what: "system calls" },
    cause: { code: "MODULE_NOT_FOUND" },
  });
});

test("says PLATFORM_UNSUPPORTED where the library's binary does not fit the machine", async () => {
  const folder = tempFolder();
  for (const part of ["platform/native", "chunks"]) {
    cpSync(join(dist, part), join(folder, "dist", part), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const koffi = join(dirname(dist), "node_modules/koffi");
  mkdirSync(join(folder, "node_modules"));
  cpSync(koffi, join(folder, "node_modules/koffi"), { recursive: true });
  const copy = pathToFileURL(join(folder, "dist/platform/native/index.js")).href;
  expect(readFileSync(join(folder, "node_modules/koffi/package.json"), "utf8")).toContain(
    "koffi-linux-x64",
  );
  expect(
    await runModule(`import { loadNative } from ${JSON.stringify(copy)};${ATTEMPT}`),
  ).toMatchObject({
    code: "PLATFORM_UNSUPPORTED",
    cause: { message: expect.stringMatching(/./) as unknown },
  });
});

test.each([
  ["darwin", "arm64"],
  ["win32", "x64"],
  ["linux", "ia32"],
])("says PLATFORM_UNSUPPORTED for %s on %s", (platform, processor) => {
  expect(() => syscallNumbersFor(platform, processor)).toThrow(PlatformUnsupportedError);
});
