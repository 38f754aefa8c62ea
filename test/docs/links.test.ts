import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { findBrokenLinks } from "./find-broken-links.ts";
import { checkout, pagesBelow } from "./markdown.ts";

test("every link of every page leads to a file and a heading that exist (R256)", () => {
  const pages = pagesBelow(checkout);
  expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(50);
  expect(findBrokenLinks(checkout, pages)).toEqual([]);
});

test("the check names a link to a missing file, a missing heading and out of the project", () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "docs"));
  writeFileSync(
    join(folder, "docs/page.md"),
    [
      "# One *Title*, twice",
      "## Again",
      "## Again",
      "[fine](#one-title-twice) [fine](#again-1) [fine](../other.md#top) `[no](link.md)`",
      "[gone](gone.md)",
      "[heading](../other.md#gone)",
      "[out](../../out.md)",
      "```md",
      "[in a block](block.md)",
      "```",
    ].join("\n"),
  );
  writeFileSync(join(folder, "other.md"), "# Top\n");
  expect(findBrokenLinks(folder, pagesBelow(folder))).toEqual([
    "docs/page.md:5: gone.md: there is no such file",
    "docs/page.md:6: ../other.md#gone: there is no such heading",
    "docs/page.md:7: ../../out.md: leads out of the project",
  ]);
});

test("every page of docs can be reached from the README (R256)", () => {
  const pages = new Map(pagesBelow(checkout).map((page) => [page.name, page]));
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const page = pages.get(name);
    if (page === undefined || reached.has(name)) return;
    reached.add(name);
    for (const { target } of page.links) {
      const [path = ""] = target.split("#");
      if (!/^[a-z]+:/.test(target) && path !== "") visit(join(name, "..", path));
    }
  };
  visit("README.md");
  const docs = [...pages.keys()].filter((name) => name.startsWith("docs/"));
  expect(docs.filter((name) => !reached.has(name))).toEqual([]);
});
