import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SandboxCreationError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { makeCheckout, openGit } from "./checkout.ts";

test("a repository of somebody else is refused with what to do", async () => {
  const checkout = makeCheckout();
  const before = process.env["HOME"];
  // Settings of whoever runs this test may trust every repository.
  process.env["HOME"] = join(checkout.folder, "home");
  mkdirSync(process.env["HOME"]);
  onTestFinished(() => {
    process.env["HOME"] = before;
  });
  shell(checkout.root, "chown -R 65534 .");
  const attempt = openGit(checkout);
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(attempt).rejects.toMatchObject({ data: { stage: "ownership", residue: [] } });
});
