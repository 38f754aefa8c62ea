import { join } from "node:path";
import { onTestFinished } from "vitest";
import { shell } from "../shell.ts";

/** Git with a home of the test's own, as a user with global settings has it. */
export function useHome(folder: string, settings: string): void {
  const before = process.env["HOME"];
  process.env["HOME"] = join(folder, "home");
  onTestFinished(() => {
    if (before === undefined) delete process.env["HOME"];
    else process.env["HOME"] = before;
  });
  shell(folder, `mkdir home; HOME=$PWD/home; export HOME; ${settings}`);
}
