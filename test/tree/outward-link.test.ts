import { expect, test } from "vitest";
import { type RelativePath, toBytePath } from "../../src/model/byte-path.ts";
import { isOutwardLink } from "../../src/tree/outward-link.ts";

const isOutward = (path: string, target: string): boolean =>
  isOutwardLink(toBytePath(path) as RelativePath, toBytePath(target), toBytePath("/srv/site"));

test("links inside the tree are inward, by relative and by absolute text", () => {
  for (const target of ["b", "./b", "../b", "b/c", "../../b", "/srv/site", "/srv/site/b", "."]) {
    expect([target, isOutward("one/two/link", target)]).toEqual([target, false]);
  }
});

test("links that leave the tree are outward, also over a name that may be a link (R230)", () => {
  const targets = [
    "../../../b",
    "/etc/passwd",
    "/srv",
    "/srv/site2",
    "/srv/site/../x",
    "/",
    "d/../../x",
    "d/../b",
  ];
  for (const target of targets) {
    expect([target, isOutward("one/two/link", target)]).toEqual([target, true]);
  }
});
