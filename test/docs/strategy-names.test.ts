import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILT_IN_STRATEGY_NAMES } from "../../src/index.ts";
import { checkout } from "./markdown.ts";

/** The list itself, and the table of implementations that is typed by it. */
const ALLOWED = ["model/strategy-names.ts", "strategies/index.ts"];

test("the names of the strategies stand in one list; nothing in the sources repeats it (R106)", () => {
  const source = join(checkout, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const repeating = files
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => {
      const code = readFileSync(join(source, file), "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
      const named = BUILT_IN_STRATEGY_NAMES.filter(
        (name) => code.includes(`"${name}"`) || new RegExp(`^\\s*${name}: `, "m").test(code),
      );
      // "none" is also a value of other settings.
      return named.filter((name) => name !== "none").length > 1;
    });
  expect(repeating.toSorted()).toEqual(ALLOWED);
});
