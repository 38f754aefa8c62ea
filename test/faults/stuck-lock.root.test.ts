import { afterAll, beforeAll, expect, test } from "vitest";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder } from "../support/temp.ts";
import { pointsOf, tryPoint } from "./disturb.ts";
import { repository } from "./mixed/repository.ts";
import { mixedWorld } from "./mixed/world.ts";
import { planRestoreShape } from "./shapes/plan-checkpoint.ts";
import { type Template, makeTemplate } from "./tree.ts";

const OWN_LOCK = /\/refs\/heads\/cofferdam-[^/]*\.lock$/;
let template: Template;
let folder = "";
beforeAll(() => {
  template = makeTemplate();
  folder = createTempFolder();
});
afterAll(() => {
  removeFolder(folder);
  removeFolder(template.folder);
});

test("a restore leaves no lock of its branch, also where git could not remove it and did not say so (R207)", async () => {
  const shape = planRestoreShape(template, mixedWorld([repository(folder)]));
  const points = await pointsOf(shape);
  const removals = points.filter(
    ({ call, paths }) => call.startsWith("unlink") && OWN_LOCK.test(paths[0] ?? ""),
  );
  expect(removals.length).toBeGreaterThan(0);
  for (const point of removals) {
    const trial = { point, fault: { error: "ENOSPC" } } as const;
    expect(await tryPoint(shape, trial, points.at(-1)?.at ?? 0)).toEqual({
      fired: true,
      ending: "new",
    });
  }
});
