import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout, pagesBelow } from "./markdown.ts";
import { fits, isRunnable, PageProject } from "./page-project.ts";

const pages = pagesBelow(checkout).filter((page) => isRunnable(page));

test("README and guide have code that is run (R254)", () => {
  const names = pages.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["README.md", "docs/write-a-strategy.md"]));
});

test.for(pages.map((page) => [page.name, page] as const))(
  "the code in %s compiles, runs and prints what the page shows (R254)",
  { timeout: 240_000 },
  ([, page]) => {
    const project = new PageProject(page, tempFolder());
    expect(project.compile()).toBe("");
    for (const { place, code, stdout, stderr, shown } of project.run()) {
      expect({ place, code, stderr }).toEqual({ place, code: 0, stderr: "" });
      expect({ place, stdout, fits: shown === null || fits(stdout, shown) }).toMatchObject({
        fits: true,
      });
    }
  },
);

test("code in the docs is run, a file, a configuration, an output, or text (R254)", () => {
  const kinds = ["run", "file", "config", "output", "example"];
  const shown = new Set(["text", "mermaid"]);
  const unmarked = pagesBelow(checkout).flatMap(({ name, blocks }) =>
    blocks
      .filter(
        ({ language, marks }) => !shown.has(language) && !kinds.some((kind) => marks.has(kind)),
      )
      .map(({ line }) => `${name}:${line}`),
  );
  expect(unmarked).toEqual([]);
});
