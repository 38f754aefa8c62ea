import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { program } from "./coffer.ts";

it("the command line loads a part of the public API, and nothing else", async () => {
  const built = join(dirname(program), "..");
  const load = async (name: string): Promise<Record<string, unknown>> =>
    (await import(join(built, name))) as Record<string, unknown>;
  const [light, whole] = [await load("light.js"), await load("index.js")];
  const foreign = Object.entries(light).filter(([name, value]) => whole[name] !== value);
  expect(Object.keys(light)).toContain("openCofferdam");
  expect(foreign).toEqual([]);
});
