import { beforeAll, expect, it } from "vitest";
import { removeFolder } from "../support/remove-folder.ts";
import { checkout, runTool, sampleProject } from "./sample-project.ts";

type Case = readonly [path: string, module: string, rule: string];

const domain: readonly Case[] = [
  ["src/model/a.ts", "node:fs", "model-and-errors-stand-alone"],
  ["src/errors/b.ts", "node:child_process", "model-and-errors-stand-alone"],
  ["src/model/c.ts", "../tree/leaf.ts", "model-and-errors-stand-alone"],
  ["src/contract/d.ts", "node:fs", "contract-only-domain"],
  ["src/contract/e.ts", "node:child_process", "contract-only-domain"],
  ["src/contract/f.ts", "../manager/leaf.ts", "contract-only-domain"],
];

const layers: readonly Case[] = [
  ["src/tree/a.ts", "../manager/leaf.ts", "platform-and-tree-below"],
  ["src/tree/b.ts", "../strategies/overlay/leaf.ts", "platform-and-tree-below"],
  ["src/platform/c.ts", "../manager/leaf.ts", "platform-and-tree-below"],
  ["src/platform/d.ts", "../tree/leaf.ts", "platform-lowest"],
  ["src/strategies/none/e.ts", "../../manager/leaf.ts", "strategies-below-manager"],
  ["src/strategies/none/f.ts", "../overlay/leaf.ts", "strategies-apart"],
  ["src/manager/g.ts", "../strategies/overlay/leaf.ts", "manager-knows-no-strategy"],
  ["src/journal/h.ts", "../manager/leaf.ts", "records-below-manager"],
  ["src/cli/i.ts", "../manager/leaf.ts", "edges-use-the-public-api"],
  ["src/manager/j.ts", "node:fs", "disk-and-programs"],
  ["src/registry/k.ts", "node:fs/promises", "disk-and-programs"],
  ["src/cli/l.ts", "node:child_process", "disk-and-programs"],
  ["src/tree/m.ts", "vitest", "no-development-dependencies"],
  ["src/tree/n.ts", "./missing.ts", "resolvable"],
  ["src/tree/o.ts", "../../test/leaf.ts", "sources-without-tests"],
];

const checkpoints: readonly Case[] = [
  ["src/manager/checkpoints/a.ts", "node:fs", "checkpoints-without-bytes"],
  ["src/manager/checkpoints/b.ts", "../../tree/leaf.ts", "checkpoints-without-bytes"],
  ["src/manager/checkpoints/c.ts", "../../strategies/overlay/leaf.ts", "checkpoints-without-bytes"],
];

const insideTests: readonly Case[] = [
  ["test/behaviour/a.test.ts", "../../src/tree/leaf.ts", "behaviour-through-the-public-api"],
  ["test/manager/b.test.ts", "../../src/manager/leaf.ts", "behaviour-through-the-public-api"],
  ["test/tree/c.test.ts", "../../src/manager/leaf.ts", "inner-tests-of-their-own-module"],
  ["test/strategies/g.test.ts", "../../src/manager/leaf.ts", "tests-of-strategies"],
  ["test/registry/d.test.ts", "../../src/tree/leaf.ts", "registry-is-built-from-config"],
  ["test/fixtures/e.ts", "../../src/tree/leaf.ts", "fixtures-are-plug-ins"],
  ["test/support/f.ts", "../../src/tree/leaf.ts", "support-imports-nothing-of-ours"],
];

const LEAF = "export const leaf = 1;\n";
const LEAVES = ["src/tree/leaf.ts", "src/manager/leaf.ts", "src/strategies/overlay/leaf.ts"];

const CIRCLE = {
  "src/tree/one.ts": 'import type { Two } from "./two.ts";\nexport type One = Two | 1;\n',
  "src/tree/two.ts": 'import type { One } from "./one.ts";\nexport type Two = One | 2;\n',
};

let found: string[] = [];

beforeAll(() => {
  const cases = [...domain, ...layers, ...checkpoints, ...insideTests];
  found = violationsIn({
    ...Object.fromEntries([...LEAVES, "test/leaf.ts"].map((path) => [path, LEAF])),
    ...Object.fromEntries(cases.map(([path, module]) => [path, importing(module)])),
    ...CIRCLE,
  });
});

it.for(domain)("does not let %s import %s (R2)", ([path, , rule]) => {
  expect(found).toContain(`${rule}: ${path}`);
});

it.for(layers)("does not let %s import %s", ([path, , rule]) => {
  expect(found).toContain(`${rule}: ${path}`);
});

it.for(checkpoints)("does not let the checkpoint service copy a file: %s, %s (R202)", (one) => {
  const [path, , rule] = one;
  expect(found).toContain(`${rule}: ${path}`);
});

it.for(insideTests)("does not let %s import %s (R268)", ([path, , rule]) => {
  expect(found.filter((line) => line.endsWith(path))).toEqual([`${rule}: ${path}`]);
});

it("does not let modules import each other in a circle, not even for types (R274)", () => {
  expect(found).toContain("no-cycles: src/tree/one.ts");
});

it("lets a layer import what stands below it, and tests their own module (R268)", () => {
  const project = {
    "src/index.ts": importing("./manager/sample.ts", "./strategies/none/strategy.ts"),
    "src/cli/main.ts": importing("../index.ts", "commander"),
    "src/errors/sample.ts": LEAF,
    "src/manager/sample.ts": importing("../journal/sample.ts", "../contract/sample.ts"),
    "src/contract/sample.ts": importing("../errors/sample.ts", "node:crypto"),
    "src/journal/sample.ts": importing("node:fs", "../platform/sample.ts"),
    "src/strategies/none/strategy.ts": importing("../../tree/sample.ts", "./inner.ts"),
    "src/strategies/none/inner.ts": importing("node:fs"),
    "src/tree/sample.ts": importing("node:fs", "../platform/sample.ts", "../errors/sample.ts"),
    "src/platform/sample.ts": importing("node:child_process", "koffi"),
    "test/tree/sample.test.ts": importing("../../src/tree/sample.ts", "vitest"),
    "test/behaviour/sample.test.ts": importing("../../src/index.ts"),
  };
  expect(violationsIn(project)).toEqual([]);
});

it("finds nothing wrong in this project (R2, R268, R274)", () => {
  expect(violations(checkout)).toEqual([]);
});

function importing(...modules: string[]): string {
  return modules.map((name) => `import "${name}";\n`).join("") + LEAF;
}

function violationsIn(files: Readonly<Record<string, string>>): string[] {
  const folder = sampleProject(files);
  try {
    return violations(folder);
  } finally {
    removeFolder(folder);
  }
}

/** Names of the broken rules, each with the file that breaks it. */
function violations(cwd: string): string[] {
  const { output } = runTool(cwd, "depcruise", ["--output-type", "json", "src", "test"]);
  const { summary } = JSON.parse(output) as {
    summary: { violations: { from: string; rule: { name: string } }[] };
  };
  return summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`).toSorted();
}
