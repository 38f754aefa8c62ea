import { execFileSync } from "node:child_process";
import { closeSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { chmodThroughHandle } from "../../../src/platform/native/attributes.ts";
import {
  chmodAt,
  fchmod,
  futimens,
  statAt,
  utimensAt,
} from "../../../src/platform/native/index.ts";
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

  test.each([
    ["the kernel's own call", chmodAt],
    ["the handle that older kernels need", chmodThroughHandle],
  ])("sets all permission bits through %s and never follows a link", (_, chmod) => {
    const { fd, target } = fixture();
    chmod(fd, "target", 0o6751);
    expect(stat(target, "%a")).toBe("6751");
    expect(codeOf(() => chmod(fd, "link", 0o777))).toBe("ENOTSUP");
    expect(stat(target, "%a")).toBe("6751");
    expect(codeOf(() => chmod(fd, "absent", 0o777))).toBe("ENOENT");
  });

  test("sets the mode of an open file", () => {
    const { file, target } = fixture();
    fchmod(file, 0o1640);
    expect(stat(target, "%a")).toBe("1640");
    expect(codeOf(() => fchmod(1_000_000, 0))).toBe("EBADF");
  });

  test("sets times to the nanosecond, of a link itself", () => {
    const { fd, target, link } = fixture();
    const before = stat(target, "%.9Y");
    utimensAt(fd, "link", 1_111_111_111_000_000_001n, 2_000_000_000_123_456_789n);
    expect(stat(link, "%.9X %.9Y")).toBe("1111111111.000000001 2000000000.123456789");
    expect(stat(target, "%.9Y")).toBe(before);
    expect(statAt(fd, "link").mtimeNs).toBe(2_000_000_000_123_456_789n);
    expect(codeOf(() => utimensAt(fd, "absent", 0n, 0n))).toBe("ENOENT");
  });

  test("leaves a time alone that is null, and reaches back before 1970", () => {
    const { fd, file, target } = fixture();
    futimens(file, 5n, -1_500_000_000n);
    expect(stat(target, "%.9X %.9Y")).toBe("0.000000005 -1.500000000");
    expect(statAt(fd, "target")).toMatchObject({ atimeNs: 5n, mtimeNs: -1_500_000_000n });
    futimens(file, null, 7n);
    expect(stat(target, "%.9X %.9Y")).toBe("0.000000005 0.000000007");
    utimensAt(fd, "target", 9n, null);
    expect(stat(target, "%.9X %.9Y")).toBe("0.000000009 0.000000007");
    expect(codeOf(() => futimens(1_000_000, 0n, 0n))).toBe("EBADF");
  });
});
