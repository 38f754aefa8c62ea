import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigurationError, loadConfig } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { checkout, readPage } from "./markdown.ts";

const page = readPage(checkout, "docs/configuration.md");

/** Where an unknown key is refused, and how such a place is written in the table of the page. */
const SECTIONS: Readonly<Record<string, (key: string) => string>> = {
  "{ KEY: 1 }": (key) => key,
  "sandbox: { KEY: 1 }": (key) => `sandbox.${key}`,
  "sandbox: { custom_strategies: { mine: { module: ./m.ts, KEY: 1 } } }": (key) => `….${key}`,
  "resource_types: { mine: { sandbox_strategy: none, KEY: 1 } }": (key) =>
    `resource_types.<name>.${key}`,
  "resources: { mine: { type: fs-file, location: ./f, KEY: 1 } }": (key) => `resources.<id>.${key}`,
  "connections: { mine: { url: postgres://host/name, KEY: 1 } }": (key) =>
    `connections.<name>.${key}`,
  "publish: { KEY: 1 }": (key) => `publish.${key}`,
  "state: { KEY: 1 }": (key) => `state.${key}`,
  "undo: { KEY: 1 }": (key) => `undo.${key}`,
  "limits: { KEY: 1 }": (key) => `limits.${key}`,
};

async function problemsOf(text: string): Promise<ConfigurationError["data"]["problems"]> {
  const file = join(tempFolder(), "cofferdam.yaml");
  writeFileSync(file, text);
  try {
    await loadConfig(file);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.data.problems;
    throw error;
  }
}

/** The keys that a section knows, as its own refusal of an unknown one lists them. */
async function keysOf(section: string): Promise<string[]> {
  const [problem] = await problemsOf(section.replace("KEY", "no_such_key"));
  const list = problem?.expected.replace(/^one of /, "").replace(/ \(did you mean .*/, "") ?? "";
  return list.split(", ");
}

test("the example of the page is a configuration, and uses every key that there is (R254)", async () => {
  const [example] = page.blocks.filter(({ marks }) => marks.has("config"));
  expect(await problemsOf(example?.text ?? "wrong: true")).toEqual([]);
  const missing: string[] = [];
  for (const section of Object.keys(SECTIONS)) {
    for (const key of await keysOf(section)) {
      if (!new RegExp(`\\b${key}:`).test(example?.text ?? "")) missing.push(key);
    }
  }
  expect(missing).toEqual([]);
});

test("the table of the page explains every key that there is (R255)", async () => {
  const explained = new Set([...page.text.matchAll(/^\| `([^`]+)`/gm)].map(([, key]) => key));
  const missing: string[] = [];
  const groups = new Set([
    "sandbox",
    "resource_types",
    "resources",
    "connections",
    "publish",
    "state",
    "undo",
    "limits",
  ]);
  for (const [section, nameOf] of Object.entries(SECTIONS)) {
    for (const key of await keysOf(section)) {
      const name = key === "custom_strategies" ? `sandbox.${key}.<name>` : nameOf(key);
      if (!groups.has(key) && !explained.has(name)) missing.push(name);
    }
  }
  expect(missing).toEqual([]);
});

test("the defaults in the table are those of an empty configuration (R255)", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "a"));
  const file = join(folder, "a/cofferdam.yaml");
  writeFileSync(file, "");
  const { publish, undo, limits, sandbox } = await loadConfig(file);
  const row = (key: string): string =>
    page.text.split("\n").find((line) => line.startsWith(`| \`${key}\``)) ?? "";
  expect(row("publish.outward_links")).toMatch(new RegExp(`\`${publish.outwardLinks}\` +\\|$`));
  expect(row("publish.special_bits")).toMatch(new RegExp(`\`${publish.specialBits}\` +\\|$`));
  expect(row("undo.retention_days")).toMatch(new RegExp(`\`${undo.retentionDays}\` +\\|$`));
  expect(row("undo.max_bytes")).toMatch(new RegExp(`\`${undo.maxBytes}\` +\\|$`));
  expect([limits.warnBytes, row("limits.warn_bytes")]).toEqual([
    null,
    expect.stringMatching(/never +\|$/),
  ]);
  expect(sandbox.pluginRoots).toEqual([join(folder, "a")]);
});
