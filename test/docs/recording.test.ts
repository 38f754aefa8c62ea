import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./markdown.ts";

test("the picture in the README is what the command line shows now", () => {
  const file = join(tempFolder(), "recording.svg");
  execFileSync(process.execPath, [join(checkout, "scripts/record-terminal.mjs"), file]);
  expect(readFileSync(file, "utf8")).toBe(
    readFileSync(join(checkout, "docs/recording.svg"), "utf8"),
  );
});
