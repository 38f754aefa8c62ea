import { closeSync, openSync, symlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { attributesOf, setLinkAttributes } from "../../src/tree/entry-attributes.ts";
import { readEntry } from "../../src/tree/read-entry.ts";
import { tempFolder } from "../support/temp.ts";

test("tells an attribute that the kernel gives to no symbolic link (R262)", () => {
  const folder = tempFolder();
  symlinkSync("nowhere", `${folder}/link`);
  const fd = openSync(folder, "r");
  onTestFinished(() => closeSync(fd));
  const entry = readEntry(fd, "link");
  const attributes = { ...attributesOf(entry), xattrs: { "user.note": "text" } };
  expect(setLinkAttributes(fd, "link", attributes)).toEqual({
    owner: false,
    xattrs: ["user.note"],
  });
  expect(readEntry(fd, "link").xattrs ?? {}).toEqual({});
});
