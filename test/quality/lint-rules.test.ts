import { beforeAll, expect, it } from "vitest";
import { removeFolder } from "../support/remove-folder.ts";
import { checkout, runTool, sampleProject } from "./sample-project.ts";

const patching = [
  'import { vi } from "vitest";\nvi.spyOn(console, "log");',
  'import * as fake from "sinon";\nfake.stub();',
  'import proxyquire from "proxyquire";\nproxyquire("x");',
  'import { mock } from "node:test";\nmock.reset();',
];

const leftOut = [
  'it.skip("x", () => {});',
  'it.only("x", () => {});',
  'it.todo("x");',
  'it.skipIf(process.platform === "darwin")("x", () => {});',
  'it.runIf(process.getuid?.() === 0)("x", () => {});',
  'describe.skip("x", () => {});',
  'it.concurrent.skip("x", () => {});',
];

const conditional = 'if (process.platform === "linux") expect(1).toBe(1);';

const messages = [
  'expect(work).toThrow("failed");',
  "expect(work).toThrow(/failed/);",
  'await expect(work()).rejects.toThrowError("failed");',
  'expect(error.message).toContain("failed");',
  'expect(error).toMatchObject({ message: "failed" });',
  'expect(error).toEqual(expect.objectContaining({ message: expect.stringContaining("x") }));',
  "expect(work).toThrowErrorMatchingInlineSnapshot();",
];

const codes = `
  const error: unknown = null;
  expect(error).toMatchObject({ code: "X", data: { message: 1 } });
  expect(() => error).toThrow(TypeError);`;

const wrongTitles = ["works (R1, R2, R3, R4)", "works (R1-R4)", "works (R1) always", "works R1"];
const goodTitle = "works (even twice) in a row (R1, R22, R3)";

const sources = [
  ["console.log(1);", "eslint(no-console)"],
  ["process.exit(1);", "eslint(no-restricted-properties)"],
  ["export const x: any = 1;", "typescript(no-explicit-any)"],
  ["export const undocumented = 1;", "cofferdam(documented-exports)"],
  ["// @ts-ignore\nvoid 0;", "cofferdam(no-disable-comments)"],
  ["// oxlint-disable-next-line\nvoid 0;", "cofferdam(no-disable-comments)"],
  ["async function f() {}\nf();", "typescript(no-floating-promises)"],
  ["void (async () => { await 1; })();", "typescript(await-thenable)"],
  [
    'declare const x: "a" | "b";\nswitch (x) { case "a": break; }',
    "typescript(switch-exhaustiveness-check)",
  ],
] as const;

const late = [
  ["src/manager", 'await import("./other.ts");', true],
  ["src/manager", 'await import("node:fs");', true],
  ["src/manager", "await import(process.title);", true],
  ["src/manager", 'await import("yaml");', false],
  ["src/cli", 'await import("./other.ts");', false],
  ["src/registry", "await import(process.title);", false],
] as const;

const decision = 'void (process.title === "overlay");';

/** Every sample by the file it is linted as, and the rules that file was found to break. */
const samples = new Map<string, { readonly path: string; readonly text: string }>();
const broken = new Map<string, string[]>();

for (const text of patching) sample("test", text);
for (const text of leftOut) sample("test", inSuite(text));
for (const text of [conditional, codes, ...messages]) sample("test", inTest(text));
for (const title of [...wrongTitles, goodTitle])
  sample("test", inTest("expect(1).toBe(1);", title));
for (const [text] of sources) sample("src/tree", text);
for (const [folder, text] of late) sample(folder, text);
for (const folder of ["src/manager", "src/strategies/overlay"]) sample(folder, decision);

beforeAll(() => {
  const files = [...samples.values()].map(({ path, text }) => [path, `${text}\n`]);
  const folder = sampleProject(Object.fromEntries(files) as Record<string, string>);
  try {
    const { output } = runTool(folder, "oxlint", ["--format", "json", "src", "test"]);
    const { diagnostics } = JSON.parse(output) as {
      diagnostics: { code: string; filename: string }[];
    };
    for (const { code, filename } of diagnostics) {
      broken.set(filename, [...(broken.get(filename) ?? []), code]);
    }
  } finally {
    removeFolder(folder);
  }
});

it.for(patching)("refuses %j in tests (R259)", (text) => {
  expect(rulesBrokenBy("test", text)).toContain("eslint(no-restricted-imports)");
});

it.for(leftOut)("refuses %j (R266)", (text) => {
  expect(rulesBrokenBy("test", inSuite(text))).toContain("cofferdam(no-left-out-tests)");
});

it("refuses an assertion that only some runs reach (R266)", () => {
  expect(rulesBrokenBy("test", inTest(conditional))).toContain("vitest(no-conditional-expect)");
});

it.for(messages)("refuses %j, which depends on wording (R269)", (text) => {
  expect(rulesBrokenBy("test", inTest(text))).toContain("cofferdam(no-message-matching)");
});

it("accepts assertions on class and code (R269)", () => {
  expect(rulesBrokenBy("test", inTest(codes))).toEqual([]);
});

it.for(wrongTitles)("refuses the title %j", (title) => {
  const rules = rulesBrokenBy("test", inTest("expect(1).toBe(1);", title));
  expect(rules).toContain("cofferdam(requirement-ids)");
});

it("accepts a title that cites up to three requirements at its end", () => {
  expect(rulesBrokenBy("test", inTest("expect(1).toBe(1);", goodTitle))).toEqual([]);
});

it.for(sources)("refuses in sources: %j", ([text, rule]) => {
  expect(rulesBrokenBy("src/tree", text)).toContain(rule);
});

it.for(late)("judges in %s: %s (R274)", ([folder, text, refused]) => {
  const rules = rulesBrokenBy(folder, text);
  expect(rules.includes("cofferdam(no-late-imports)")).toBe(refused);
});

it("refuses a decision by the name of a strategy outside strategies (R274)", () => {
  expect(rulesBrokenBy("src/manager", decision)).toContain("cofferdam(no-strategy-names)");
  expect(rulesBrokenBy("src/strategies/overlay", decision)).toEqual([]);
});

it("finds nothing wrong in this project (R259, R266, R269)", () => {
  const { code, output } = runTool(checkout, "oxlint", []);
  expect(code, output).toBe(0);
});

function sample(folder: string, text: string): void {
  const ending = folder === "test" ? ".test.ts" : ".ts";
  samples.set(folder + text, { path: `${folder}/sample-${samples.size}${ending}`, text });
}

function rulesBrokenBy(folder: string, text: string): string[] {
  const known = samples.get(folder + text);
  if (known === undefined) throw new Error(`no such sample: ${text}`);
  return broken.get(known.path) ?? [];
}

function inSuite(text: string): string {
  return `import { describe, it } from "vitest";\nvoid [describe, it];\n${text}`;
}

function inTest(body: string, title = "does something"): string {
  const declared = "declare const work: () => Promise<void>, error: Error;\nvoid [work, error];";
  return `import { expect, it } from "vitest";\n${declared}\nit("${title}", async () => {\n${body}\n});`;
}
