import { chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../support/as-ordinary-user.ts";
import { runChild } from "../../support/child.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { nobody } from "../../support/nobody.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { withoutNamespaces } from "./no-namespaces.ts";
import type { LifeOrder, LifeReport } from "./programs/whole-life.ts";

const PROGRAM = new URL("./programs/whole-life.ts", import.meta.url);
const MODES = ["kernel", "userns", "fuse", "copy"] as const;
type Mode = (typeof MODES)[number];

const drop = ["setpriv", `--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, "--clear-groups", "--"];

/** Programs in front of another that leave it a place where this is the best mode. */
const PLACES: Readonly<Record<Mode, (folder: string) => readonly string[]>> = {
  kernel: () => [],
  userns: () => asOrdinaryUser(nobody.uid, null),
  fuse: (folder) => [...withoutNamespaces(folder, "open"), ...drop],
  copy: (folder) => [...withoutNamespaces(folder, "closed"), ...drop],
};

const folder = createTempFolder({ mode: 0o755 });
const lives = new Map<Mode, LifeReport>();

beforeAll(async () => {
  for (const mode of MODES) lives.set(mode, await lead(mode));
}, 120_000);
afterAll(() => removeFolder(folder));

async function lead(mode: Mode): Promise<LifeReport> {
  const place = join(folder, mode);
  const order: LifeOrder = { real: join(place, "real"), state: join(place, "state") };
  for (const path of [place, order.real]) {
    mkdirSync(path);
    if (mode !== "kernel") chownSync(path, nobody.uid, nobody.gid);
  }
  const { code, stdout, stderr } = await runChild(PROGRAM, [], {
    input: JSON.stringify(order),
    wrapper: PLACES[mode](place),
    env: { HOME: place, TMPDIR: place },
  });
  if (code !== 0) throw new Error(`${mode}: ${stderr}`);
  expect(mountsBelow(place)).toEqual([]);
  rmSync(place, { recursive: true });
  return JSON.parse(stdout) as LifeReport;
}

describe.each(MODES)("overlay where the best mode is %s", (mode) => {
  it("is made, committed, rolled back and cleaned up in this mode, after those above it failed (R273)", () => {
    const above = MODES.slice(0, MODES.indexOf(mode));
    const life = lives.get(mode);
    // The first choice is not worth a line in the log.
    expect(life?.chosen?.["mode"]).toBe(above.length === 0 ? undefined : mode);
    expect(life).toMatchObject({
      strategyName: "overlay",
      mode,
      tried: [
        ...above.map((name) => ({
          mode: name,
          works: false,
          reason: expect.any(String) as string,
        })),
        { mode, works: true },
      ],
      steps: { status: "ACTIVE" },
    });
  });
});

it.each(["kernel", "userns", "fuse"] as const)(
  "shows in mode %s, step by step and entry by entry, what a copy shows (R72)",
  (mode) => {
    const copied = lives.get("copy");
    expect(Object.keys(copied?.steps ?? {})).toHaveLength(13);
    expect(lives.get(mode)?.steps).toEqual(copied?.steps);
  },
);

it("names a copy an overlay in mode copy, and the log tells why no overlay could be had (R72)", () => {
  expect(lives.get("copy")).toMatchObject({
    strategyName: "overlay",
    mode: "copy",
    chosen: {
      mode: "copy",
      reason: expect.stringMatching(/kernel: .*userns: .*fuse: /s) as string,
    },
  });
});
