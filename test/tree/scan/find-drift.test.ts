import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { BytePath, RelativePath } from "../../../src/model/byte-path.ts";
import { type DriftRequest, findDrift } from "../../../src/tree/scan/find-drift.ts";
import { recordTree } from "../../../src/tree/scan/record-tree.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../sample-tree.ts";

const TREE = `echo a > a; echo b > b; mkdir -p sub/deep; echo c > sub/c; echo d > sub/deep/d
ln -s a link; mkfifo pipe; mkdir own; echo own > own/file`;

let root: string;

beforeEach(() => {
  root = join(tempFolder(), "root");
  mkdirSync(root);
  shell(root, TREE);
});

/** What the search says, as `path reason`. */
function driftSince(base: DriftRequest["base"], extra: Partial<DriftRequest> = {}): string[] {
  const request = { root: root as BytePath, only: null, exclude: [], touched: [], base };
  return findDrift({ ...request, ...extra }).map(({ path, reason }) => `${path} ${reason}`);
}

describe("against a manifest", () => {
  function recorded(extra: Partial<DriftRequest> = {}): DriftRequest["base"] {
    const { only = null, exclude = [] } = extra;
    return { manifest: recordTree({ root: root as BytePath, only, exclude }) };
  }

  it("finds nothing in a tree that nobody touched, nor when only names came and went", () => {
    const base = recorded();
    expect(driftSince(base)).toEqual([]);
    shell(root, "touch sub/t; rm sub/t; touch t; rm t");
    expect(driftSince(base)).toEqual([]);
  });

  it("tells what is changed, new and missing, new folders with everything in them", () => {
    const base = recorded();
    shell(
      root,
      `echo longer > a; rm b; chmod 700 sub/deep; ln -sfn b link; rm -r own
      mkdir -p added/inner; echo x > added/inner/x; mv sub/c sub/moved`,
    );
    expect(driftSince(base)).toEqual([
      "a changed",
      "added new",
      "added/inner new",
      "added/inner/x new",
      "b missing",
      "link changed",
      "own missing",
      "sub/c missing",
      "sub/deep changed",
      "sub/moved new",
    ]);
  });

  it("tells a file that was replaced by another with the same mode and time", () => {
    const base = recorded();
    shell(root, "cp -p a t; mv t a");
    expect(driftSince(base)).toEqual(["a changed"]);
  });

  it("leaves out what the sandbox itself touches, what is excluded, and special files", () => {
    const base = recorded({ exclude: ["own" as RelativePath] });
    shell(root, "echo mine > a; echo mine > b; chmod 600 pipe; echo mine > own/file");
    const extra = { touched: ["b" as RelativePath], exclude: ["own" as RelativePath] };
    expect(driftSince(base, extra)).toEqual(["a changed"]);
  });

  it("looks at a single file alone when the resource is one", () => {
    const only = "a" as BytePath;
    const base = recorded({ only });
    shell(root, "echo mine > b; echo mine > new");
    expect(driftSince(base, { only })).toEqual([]);
    shell(root, "echo mine > a");
    expect(driftSince(base, { only })).toEqual(["a changed"]);
  });

  it("refuses a manifest that is cut short", () => {
    const { manifest } = recorded() as { manifest: Uint8Array };
    expect(() => driftSince({ manifest: manifest.subarray(0, 7) })).toThrow();
  });
});

describe("against a moment", () => {
  /** The time of the last change so far, once the clock of the file system has gone on. */
  function now(): DriftRequest["base"] {
    const probe = join(root, "..", "probe");
    const change = (): bigint => {
      writeFileSync(probe, "");
      return lstatSync(probe, { bigint: true }).ctimeNs;
    };
    const sinceNs = change();
    while (change() <= sinceNs);
    return { sinceNs };
  }

  it("finds nothing in a tree that nobody touched since", () => {
    expect(driftSince(now())).toEqual([]);
  });

  it("tells new entries from changed ones, and takes no name that came or went for a change of its folder", () => {
    const base = now();
    shell(root, "echo longer > a; chmod 700 own; touch -d 2001-01-01 b; mkdir sub/new; rm sub/c");
    expect(driftSince(base)).toEqual(["a changed", "b changed", "own changed", "sub/new new"]);
  });
});
