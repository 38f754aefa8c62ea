import { expect, it } from "vitest";
import { coffer, makeHome } from "../../../test/cli/coffer.ts";
import { useServer } from "./server.ts";
import { Site } from "./site.ts";

const served = useServer();

it("says that objects are not merged, and what settles a conflict instead", async () => {
  const site = await Site.make(served());
  await using cofferdam = await site.open();
  await (await site.sandbox(cofferdam)).write("a.txt", "mine\n");
  await served().buckets.put(site.bucket, "a.txt", "theirs\n");
  const places = ["--state", site.stateDirectory, "--config", site.config];
  const merging = coffer(makeHome(), ["resolve", "plan", "a.txt", "--merge", ...places]);
  expect(merging.code).toBe(3);
  expect(merging.stderr).toContain("Objects are not merged");
  expect(merging.stderr).toContain(
    "hint: Settle each: coffer resolve plan PATH --mine or --theirs.",
  );
});
