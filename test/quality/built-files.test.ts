import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
/** With a module for each source there were a hundred and eighty. */
const FEW = 15;

test("a command reads few files of the package", () => {
  const [state, counts] = [tempFolder(), tempFolder()];
  execFileSync(process.execPath, [join(dist, "cli/main.cjs"), "--state", state, "list"], {
    env: { PATH: process.env["PATH"], NODE_V8_COVERAGE: counts },
    stdio: "ignore",
  });
  const [file = ""] = readdirSync(counts);
  const text = readFileSync(join(counts, file), "utf8");
  const { result } = JSON.parse(text) as { result: { url: string }[] };
  const own = result.filter(({ url }) => url.startsWith(pathToFileURL(dist).href));
  expect(own.map(({ url }) => url)).toContain(pathToFileURL(join(dist, "cli/main.cjs")).href);
  expect(own.length).toBeLessThan(FEW);
});

test("the command line needs no package to read its arguments, and keeps the licence of what it took in", () => {
  const folder = tempFolder();
  cpSync(dist, join(folder, "dist"), { recursive: true });
  cpSync(join(dist, "../package.json"), join(folder, "package.json"));
  const main = join(folder, "dist/cli/main.cjs");
  const options = { encoding: "utf8", env: { HOME: folder } } as const;
  expect(execFileSync(process.execPath, [main, "--help"], options)).toContain("Usage: coffer");
  const [licence, chunk] = ["../node_modules/commander/LICENSE", "chunks/command-line.cjs"].map(
    (name) => readFileSync(join(dist, name), "utf8"),
  );
  expect(chunk).toContain(licence?.trim());
});

test("loading the joined files does nothing but load them", () => {
  const names = readdirSync(join(dist, "chunks")).filter((name) => name.endsWith(".cjs"));
  expect(names).toContain("engine.cjs");
  const lines = names.map((name) => `await import(${JSON.stringify(join(dist, "chunks", name))});`);
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", lines.join("")], {
    encoding: "utf8",
  });
  expect(done).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test("the package and its command line share one copy of every class", () => {
  const script = `
    const [whole, part] = await Promise.all(["index", "light"].map((name) => import(${JSON.stringify(dist)} + name + ".js")));
    const names = Object.keys(part).filter((name) => name in whole);
    console.log(JSON.stringify(names.map((name) => [name, part[name] === whole[name]])));`;
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  const pairs = JSON.parse(told) as [string, boolean][];
  expect(pairs.map(([name]) => name)).toContain("SandboxError");
  expect(pairs.filter(([, isSame]) => !isSame)).toEqual([]);
});
