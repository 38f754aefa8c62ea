import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlaceholder, placeholderFor, removePlaceholder } from "../../src/exec/placeholder.ts";
import { tempFolder } from "../support/temp.ts";

test("a placeholder is never made or removed through a link, whoever made it", () => {
  const folder = tempFolder();
  const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
  for (const path of [workspace, outside, join(workspace, "data")]) mkdirSync(path);
  symlinkSync(outside, join(workspace, "link"));
  const shown = [{ location: "/real", workspace }];
  expect(placeholderFor("/real/link/app.db", shown)).toBeNull();
  const placeholder = placeholderFor("/real/data/app.db", shown)!;
  makePlaceholder(placeholder);
  expect(existsSync(join(workspace, "data/app.db"))).toBe(true);
  renameSync(join(workspace, "data"), join(workspace, "moved"));
  symlinkSync(outside, join(workspace, "data"));
  writeFileSync(join(outside, "app.db"), "");
  removePlaceholder(placeholder);
  expect(existsSync(join(outside, "app.db"))).toBe(true);
});
