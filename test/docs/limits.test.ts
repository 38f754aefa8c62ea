import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, readPage } from "./markdown.ts";

/** The calls that limits affect, by the file of their API text. */
const AFFECTED = {
  "src/manager/bound-sandbox.ts": [
    "diff",
    "commit",
    "rollback",
    "undoCommit",
    "checkpoint",
    "getPath",
  ],
  "src/manager/cofferdam.ts": ["create", "recover"],
};

const REFERENCE = /docs\/limits\.md(?:#([a-z0-9-]+))?/g;

test("the text of every affected call leads to the page of limits, at a heading that exists (R257)", () => {
  const { anchors } = readPage(checkout, "docs/limits.md");
  for (const [file, calls] of Object.entries(AFFECTED)) {
    const source = readFileSync(join(checkout, file), "utf8");
    for (const call of calls) {
      const [, comment = ""] =
        new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  (?:async )?${call}\\(`).exec(source) ?? [];
      const references = [...comment.matchAll(REFERENCE)].map(([, anchor = ""]) => anchor);
      expect([call, references.length]).not.toEqual([call, 0]);
      expect([call, references.filter((anchor) => !anchors.has(anchor))]).toEqual([call, []]);
    }
  }
});
