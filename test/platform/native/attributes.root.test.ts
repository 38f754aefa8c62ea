import { execFileSync } from "node:child_process";
import { closeSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { chownAt, fchmod, fchown } from "../../../src/platform/native/index.ts";
import { PLACES, codeOf, openFolder } from "../folder.ts";

function stat(path: string, format: string): string {
  return execFileSync("stat", ["-c", format, path], { encoding: "utf8" }).trim();
}

describe.each(PLACES)("on %s", (place) => {
  function fixture(): { path: string; fd: number; file: number; target: string; link: string } {
    const { path, fd } = openFolder(place);
    const target = join(path, "target");
    writeFileSync(target, "", { mode: 0o600 });
    symlinkSync("target", join(path, "link"));
    const file = openSync(target, "r+");
    onTestFinished(() => closeSync(file));
    return { path, fd, file, target, link: join(path, "link") };
  }

  test("sets mode and owner of an open file", () => {
    const { file, target } = fixture();
    fchown(file, 1234, 5678);
    fchmod(file, 0o1640);
    expect(stat(target, "%u:%g %a")).toBe("1234:5678 1640");
    expect([codeOf(() => fchown(1_000_000, 0, 0)), codeOf(() => fchmod(1_000_000, 0))]).toEqual([
      "EBADF",
      "EBADF",
    ]);
  });

  test("sets the owner of a link and leaves its target alone", () => {
    const { fd, target, link } = fixture();
    chownAt(fd, "link", 42, 43);
    expect([stat(link, "%u:%g"), stat(target, "%u:%g")]).toEqual(["42:43", "0:0"]);
    expect(codeOf(() => chownAt(fd, "absent", 0, 0))).toBe("ENOENT");
  });
});
