import { expect, test } from "vitest";
import { checkout, pagesBelow } from "./markdown.ts";

/** The questions on which earlier findings disagreed, in the order in which they were listed. */
const DISPUTED = [
  "special-bits",
  "symlinks",
  "special-files",
  "fresh-workspaces",
  "empty-folders",
  "change-detection",
  "undo-in-place",
  "overlay-fallback",
  "overlay-detection",
  "undo-after-database-commit",
];

/** Atomic against partial, order and strictness stand in the first. */
const LARGER = ["all-or-nothing", "one-contract", "one-decision", "conflicts", "storage-area"];

const SECTIONS = ["question", "positions", "decision", "why", "where-it-shows"];

const pages = pagesBelow(checkout).filter(({ name }) => /^docs\/decisions\/(?!README)/.test(name));

test("there is a decision record for every disputed question and every larger choice (R256)", () => {
  const names = pages.map(({ name }) => name);
  const wanted = [...DISPUTED, ...LARGER].map((name) => `docs/decisions/${name}.md`);
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
});

test("every decision record names question, positions, decision and reason, and refers to the code (R256)", () => {
  for (const { name, anchors, links } of pages) {
    expect([name, SECTIONS.filter((section) => !anchors.has(section))]).toEqual([name, []]);
    expect([name, links.some(({ target }) => target.startsWith("../../src/"))]).toEqual([
      name,
      true,
    ]);
  }
});
