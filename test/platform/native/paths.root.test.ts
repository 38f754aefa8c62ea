import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MODE, mknodAt, statAt } from "../../../src/platform/native/index.ts";
import { PLACES, openFolder } from "../folder.ts";

/** `find`'s view of a folder: paths, types and link texts, one character a byte. */
function listing(path: string): string[] {
  const args = [path, "-mindepth", "1", "-printf", "%P|%y|%l\\0"];
  return execFileSync("find", args, { encoding: "latin1" }).split("\0").slice(0, -1).sort();
}

describe.each(PLACES)("on %s", (place) => {
  test("makes fifos, sockets and devices", () => {
    const { path, fd } = openFolder(place);
    mknodAt(fd, "fifo", MODE.fifo | 0o600);
    mknodAt(fd, "socket", MODE.socket | 0o600);
    mknodAt(fd, "whiteout", MODE.characterDevice);
    mknodAt(fd, "block", MODE.blockDevice | 0o600, 259, 70_000);
    expect(listing(path)).toEqual(["block|b|", "fifo|p|", "socket|s|", "whiteout|c|"]);
    const numbers = execFileSync("stat", [
      "-c",
      "%Hr:%Lr",
      join(path, "block"),
      join(path, "whiteout"),
    ]);
    expect(numbers.toString()).toBe("259:70000\n0:0\n");
    expect(statAt(fd, "block")).toMatchObject({
      type: "blockDevice",
      rdevMajor: 259,
      rdevMinor: 70_000,
    });
  });
});
