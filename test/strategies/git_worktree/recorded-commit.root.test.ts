import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { faultPoints, runWithFault } from "../../support/faults.ts";
import { shell } from "../shell.ts";
import { git } from "./checkout.ts";
import { expectWhole, interrupt } from "./interrupted.ts";

function intents(folder: string): readonly string[] {
  const running = join(folder, "state/tx");
  return readdirSync(running).map((ulid) =>
    readFileSync(join(running, ulid, "intent.json"), "utf8"),
  );
}

test("the commit before is durable before anything moves, and kept until the repository is whole again (R52)", async () => {
  const isLast = (path: string): boolean => path.endsWith("/.git/refs/heads/main");
  const points = await faultPoints(await interrupt("commit"));
  const point = points.find(({ call, paths }) => call.startsWith("rename") && paths.some(isLast));
  const interrupted = await interrupt("commit");
  const { folder, root, ref } = interrupted;
  const before = git(root, "rev-parse", "HEAD");
  const run = await runWithFault(interrupted, point!, { signal: "KILL" });
  expect(run.fired).toBe(true);
  expect(intents(folder)).toEqual([expect.stringContaining(before)]);

  shell(root, "chattr +i .git/refs/heads");
  onTestFinished(() => void shell("/", `chattr -f -i '${root}/.git/refs/heads' || true`));
  {
    await using coffer = await openCofferdam({
      stateDirectory: join(folder, "state"),
      config: false,
    });
    const { recovery } = coffer.opening;
    expect(recovery?.complete).toBe(false);
    expect(JSON.stringify(recovery)).toContain(before);
    expect(await coffer.status(ref)).not.toBe("ACTIVE");
  }
  expect(intents(folder)).toEqual([expect.stringContaining(before)]);

  shell(root, "chattr -i .git/refs/heads");
  expect(await expectWhole(interrupted)).toBe("new");
  expect(intents(folder)).toEqual([]);
});

test("no file of the checkout changes before the merge result is complete and kept (R60)", async () => {
  // Folders are opened to look at them as well.
  const points = (await faultPoints(await interrupt("commit"))).filter(
    ({ call }) => call !== "openat2",
  );
  const touches = (part: RegExp): number[] =>
    points.flatMap(({ paths }, at) => (paths.some((path) => part.test(path)) ? [at] : []));
  const objects = touches(/\/real\/\.git\/objects\//);
  const pins = touches(/\/real\/\.git\/refs\/cofferdam\//);
  const locks = touches(/\/real\/\.git\/(?:index|refs\/heads\/main)\.lock$/);
  const files = touches(/\/real\/(?!\.git(?:\/|$))/);
  const branch = touches(/\/real\/\.git\/refs\/heads\/main$/);
  expect([objects, pins, locks, files, branch].map((found) => found.length > 0)).toEqual(
    Array.from({ length: 5 }, () => true),
  );
  expect(Math.max(...objects)).toBeLessThan(Math.min(...files));
  expect(Math.min(...pins)).toBeLessThan(Math.min(...files));
  expect(Math.min(...locks)).toBeLessThan(Math.min(...files));
  expect(Math.max(...files)).toBeLessThan(Math.min(...branch));
});
