import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ioctlInBackground } from "../../../src/platform/native/ioctl.ts";
import { tempFolder } from "../../support/temp.ts";

/** How many bytes are left to read. */
const FIONREAD = 0x541b;
const NO_REQUEST = 0x7fff;

function openFile(content: string): number {
  const path = join(tempFolder(), "file");
  writeFileSync(path, content);
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("puts the answer of a request into its argument", async () => {
  const argument = Buffer.alloc(4);
  expect(await ioctlInBackground(openFile("seven b"), FIONREAD, argument)).toBe(true);
  expect(argument.readInt32LE()).toBe(7);
});

test("says that a request was refused, and leaves its argument as it was", async () => {
  const argument = Buffer.from("kept");
  expect(await ioctlInBackground(openFile(""), NO_REQUEST, argument)).toBe(false);
  expect(argument.toString()).toBe("kept");
});
