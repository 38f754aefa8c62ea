import { statSync } from "node:fs";
import { expect, test } from "vitest";

const command = new URL("../../dist/cli/main.cjs", import.meta.url);

test("every build leaves a command that can be run, not only the first one that npm links", () => {
  expect(statSync(command).mode & 0o111).toBe(0o111);
});
