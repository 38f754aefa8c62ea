import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import type { Plan } from "../../../../src/index.ts";
import { sqlite3 } from "../../../support/sqlite3.ts";
import type { Files } from "./ground.ts";

/** What a database holds as SQLite's own program tells it; objects may be in another order. */
export function dump(path: string): string[] {
  const numbers = sqlite3(
    path,
    "PRAGMA user_version; PRAGMA application_id; PRAGMA integrity_check",
  );
  return [
    ...numbers,
    ...execFileSync("sqlite3", [path, ".dump"], { encoding: "utf8" }).split("\n").toSorted(),
  ];
}

/** Runs statements by SQLite's own program in a plan. */
export async function runIn(
  files: Files,
  statements: string,
): Promise<AsyncDisposable & { plan: Plan }> {
  const cofferdam = await files.open();
  const plan = await cofferdam.plan("plan", [{ id: "shop", type: "database", location: "shop" }]);
  const script = `PRAGMA foreign_keys = ON; ${statements}`;
  const ran = await plan.run(
    ["sqlite3", "-batch", "-bail", "-init", "/dev/null", files.path("shop"), script],
    {
      cwd: files.folder,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  expect(ran).toMatchObject({ exitCode: 0, unreached: [] });
  return { plan, [Symbol.asyncDispose]: () => cofferdam.close() };
}
