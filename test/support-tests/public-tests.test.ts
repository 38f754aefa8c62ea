import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { publicTests } from "../setup/public-tests.ts";
import { installedFile } from "../support/installed-file.ts";
import { linkPackage } from "../support/package-folder.ts";
import { tempFolder } from "../support/temp.ts";

/** What the samples below may import. */
const AROUND = {
  "test/support/package-folder.ts": "export const packageFolder = '';",
  "test/support/start.ts": "import './program.ts';",
  "test/support/program.ts": "import './package-folder.ts';",
  "test/shared.ts": 'import type { Cofferdam } from "../src/index.ts";',
  "test/looks-inside.ts": 'export * from "../src/tree/scan.ts";',
  "test/programs/public.ts": 'import { openCofferdam } from "../../src/index.ts";',
  "test/programs/inner.ts": 'import { lockFile } from "../../src/locks/file-lock.ts";',
};

/** Whether a test with this text is among those that need only what is public. */
async function isPublic(text: string): Promise<boolean> {
  const root = tempFolder();
  for (const [name, content] of Object.entries({ ...AROUND, "test/one.test.ts": text })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return (await publicTests(root)).includes("test/one.test.ts");
}

const USES = 'import { openCofferdam } from "../src/index.ts";\n';

describe("the tests that run against the installed package", () => {
  it.for([
    ["imports the package", USES],
    ["imports the kit", 'import { runConformance } from "../src/testing/index.ts";'],
    ["imports a file that does", 'import { site } from "./shared.ts";'],
    [
      "starts a program that does",
      'const file = new URL("./programs/public.ts", import.meta.url);',
    ],
    ["asks where the package is", 'import { packageFolder } from "./support/package-folder.ts";'],
  ] as const)("are those of which one %s", async ([, text]) => {
    expect(await isPublic(text)).toBe(true);
  });

  it.for([
    ["imports a module that is not public", 'import { scan } from "../src/tree/scan.ts";'],
    ["imports only its types", 'import type { Scan } from "../src/tree/scan.ts";'],
    ["passes it on", 'export { scan } from "../src/tree/scan.ts";'],
    ["imports it late", 'await import("../src/tree/scan.ts");'],
    ["imports a file that does", 'import "./looks-inside.ts";'],
    ["starts a program that does", 'new URL("./programs/inner.ts", import.meta.url);'],
    ["names a file of the build", 'const file = join(checkout, "dist/index.js");'],
  ] as const)("are not those of which one %s", async ([, text]) => {
    expect(await isPublic(USES + text)).toBe(false);
  });

  it.for([
    ["nothing", 'import { expect } from "vitest";'],
    ["only what starts programs", 'import { start } from "./support/start.ts";'],
  ] as const)("are not those that use %s", async ([, text]) => {
    expect(await isPublic(text)).toBe(false);
  });
});

/** The folders whose tests look into their own module, or judge something else than the package. */
const ELSEWHERE =
  /^test\/(contract|platform|tree|journal|locks|registry|config|strategies|quality|support-tests)\//;

it("they are all tests but those of inner modules and of what the package is made from (R129)", async () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const chosen = new Set(await publicTests(root));
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const left = names
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", name))
    .filter((name) => !ELSEWHERE.test(name) && !chosen.has(name));
  expect(left.toSorted()).toEqual([
    // They read pages, try plain tools, or make a package of their own.
    "test/docs/comparison.test.ts",
    "test/docs/decisions.test.ts",
    "test/docs/generated.test.ts",
    "test/docs/limits.test.ts",
    "test/docs/links.test.ts",
    "test/docs/recording.test.ts",
    // It looks at a module that the others of its folder meet only through commands.
    "test/exec/placeholder.test.ts",
    "test/matrix/limits.test.ts",
    "test/package/consumer.test.ts",
    "test/package/plugin.test.ts",
    // Its strategies import the package by its name, which from their folder is the checkout.
    "test/testing/database-defects.test.ts",
  ]);
});

it("they find in an installation what is public and nothing else", () => {
  const project = tempFolder();
  linkPackage(project);
  expect(existsSync(installedFile(project, "index.ts"))).toBe(true);
  expect(existsSync(installedFile(project, "testing/index.ts"))).toBe(true);
  expect(() => installedFile(project, "tree/copy-entry.ts")).toThrow(Error);
  expect(() => installedFile(tempFolder(), "index.ts")).toThrow(Error);
});
