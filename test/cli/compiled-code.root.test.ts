import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { coffer, makeHome } from "./coffer.ts";

const NOBODY = 65_534;

test("keeps no compiled code in the home of another user", () => {
  const home = makeHome();
  chownSync(home.folder, NOBODY, NOBODY);
  const env = { XDG_CACHE_HOME: "" };
  const args = ["--state", "../state", "list"];
  expect(coffer(home, args, { env })).toMatchObject({ code: 0 });
  expect(existsSync(join(home.folder, ".cache"))).toBe(false);
});
