import { afterAll, describe, expect, it } from "vitest";
import {
  type FaultPoint,
  type TracedProgram,
  faultPoints,
  runWithFault,
} from "../../../test/support/faults.ts";
import { mountFileSystem } from "../../../test/support/loop.ts";
import { Site } from "./sandbox.ts";
import { CONFIG } from "./subject.ts";

const disk = mountFileSystem("btrfs", { megabytes: 600 });
afterAll(() => disk[Symbol.asyncDispose]());

interface Prepared extends TracedProgram {
  readonly site: Site;
}

function prepare(): Prepared {
  const site = new Site(disk.mountPoint);
  const program = new URL("programs/whole-life.ts", import.meta.url);
  const args = [site.stateDirectory, site.root, CONFIG];
  return { site, program, args, touching: [site.root] };
}

/** The requests of a sandbox from its making to its end; the first two make it. */
async function requests(): Promise<FaultPoint[]> {
  const points = await faultPoints(prepare());
  return points.filter(({ call, inChild }) => call === "ioctl" && !inChild);
}

describe("a sandbox that asks btrfs itself for its snapshots", () => {
  it("lives its whole life where one of the requests is refused", async () => {
    const all = await requests();
    for (const point of [all[0], all[1], all.at(-1)]) {
      const prepared = prepare();
      const run = await runWithFault(prepared, { at: point?.at ?? 0 }, { error: "EPERM" });
      expect(run).toMatchObject({ fired: true, code: 0, stderr: "" });
      expect(JSON.parse(run.stdout)).toMatchObject({ committed: "new\n", undone: "old\n" });
      expect(prepared.site.subvolumes()).toEqual(["./root"]);
    }
  });

  it("leaves nothing when it is killed between its first snapshots", async () => {
    for (const { at } of (await requests()).slice(0, 2)) {
      const prepared = prepare();
      const run = await runWithFault(prepared, { at }, { signal: "KILL" });
      expect(run.fired).toBe(true);
      await using _cofferdam = await prepared.site.open();
      expect(prepared.site.subvolumes()).toEqual(["./root"]);
    }
  });
});
