import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import * as entry from "../../src/index.ts";
import { TRANSITIONS } from "../../src/index.ts";
import { checkout, readPage } from "./markdown.ts";

const page = readPage(checkout, "docs/guarantees.md");

/** Errors of a later release; the page on errors says so. */
const NOT_THROWN_YET = ["AtomicCommitError", "AtomicityRefusedError"];

interface Row {
  readonly promise: string;
  readonly tests: readonly { readonly title: string; readonly file: string }[];
}

/** The rows of the table under a heading. */
function rowsOf(heading: string): Row[] {
  const section = page.text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => {
    const [, promise = "", proofs = ""] = line.split("|").map((cell) => cell.trim());
    const links = [...proofs.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
    return {
      promise,
      tests: links.map(([, title = "", file = ""]) => ({ title, file })),
    };
  });
}

const headings = [...page.text.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);

test("every promise is linked to tests that exist under that title (R218)", () => {
  const rows = headings.flatMap(rowsOf);
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  const missing = rows
    .flatMap(({ tests }) => tests)
    .filter(({ title, file }) => {
      const source = readFileSync(join(checkout, dirname(page.name), file), "utf8");
      return !source.includes(title);
    });
  expect(missing).toEqual([]);
});

test("what the API text says of calls at the same time is on the page, word for word (R218)", () => {
  const source = readFileSync(join(checkout, "src/manager/cofferdam.ts"), "utf8");
  const comment = source.slice(0, source.indexOf("export class Cofferdam "));
  const text = comment.slice(comment.lastIndexOf("/**")).replaceAll(/\s*\n \* ?/g, "\n");
  const said = text
    .split(/^- /m)
    .slice(1)
    .map((item) =>
      item
        .split(/\n(?! )/, 1)[0]
        ?.replaceAll(/\s+/g, " ")
        .trim(),
    );
  expect(said.length).toBeGreaterThan(4);
  expect(rowsOf("Calls at the same time").map(({ promise }) => promise)).toEqual(said);
});

test("every arrow of the status table has a test (R255)", () => {
  const arrows = new Set(TRANSITIONS.map(({ by }) => by));
  const rows = rowsOf("Every arrow of the status table");
  expect(rows.map(({ promise }) => promise).toSorted()).toEqual([...arrows].toSorted());
});

test("every error that can be thrown has a test that names it (R255)", () => {
  const classes = Object.entries(entry)
    .filter(
      ([, value]) => typeof value === "function" && value.prototype instanceof entry.SandboxError,
    )
    .map(([name]) => name)
    .filter((name) => !NOT_THROWN_YET.includes(name));
  const rows = rowsOf("Every error");
  const named = rows.map(({ promise }) => /\[(\w+)\]/.exec(promise)?.[1] ?? promise);
  expect(named.toSorted()).toEqual(classes.toSorted());
});
