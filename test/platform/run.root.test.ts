import { expect, test } from "vitest";
import { run } from "../../src/platform/run.ts";
import { nobody } from "../support/nobody.ts";

test("runs under another user without any further group", async () => {
  const { stdout } = await run("id", [], nobody);
  expect(stdout.toString()).toMatch(
    /^uid=65534\(nobody\) gid=65534\(nogroup\) groups=65534\(nogroup\)\n$/,
  );
});
