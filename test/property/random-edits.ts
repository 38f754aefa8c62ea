import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import type { Editor } from "./editor.ts";

/** One way of running a sandbox, and what it is known not to keep. */
export interface Subject {
  readonly strategy: string;
  readonly mode?: string;
  /** Kernel overlays split hard links of the base when one name is written, so the base gets none. */
  readonly splitsHardLinks?: boolean;
}

/**
 * Random edits in a sandbox and in a plain copy: after commit the resource equals the copy and what the sandbox showed,
 * after rollback it equals what it was; three sandboxes' worth of states pass through one resource.
 */
export async function checkRound(
  folder: string,
  editor: Editor,
  subject: Subject,
  seed: number,
): Promise<void> {
  const [real, plain] = [join(folder, `real-${seed}`), join(folder, `plain-${seed}`)];
  mkdirSync(real);
  await editor.edit(real, seed, 25, { hardLinks: subject.splitsHardLinks !== true });
  execFileSync("cp", ["-a", real, plain]);
  const original = takeOracle(real);
  await using coffer = await openCofferdam({
    stateDirectory: join(folder, "state"),
    config: false,
  });
  const ref = await coffer.create(
    `plan-${seed}`,
    {
      resourceId: "tree",
      type: "fs-directory",
      location: real,
      ...(subject.mode !== undefined && { properties: { mode: subject.mode } }),
    },
    { strategy: subject.strategy },
  );
  const sandbox = coffer.sandbox(ref);
  try {
    if (subject.mode !== undefined) expect(ref.metadata["mode"]).toBe(subject.mode);
    await editor.edit(await sandbox.getPath(), seed + 1, 12);
    await editor.edit(plain, seed + 1, 12);
    expectOracleEqual(original, takeOracle(real));
    const shown = takeOracle(await sandbox.getPath());
    const { digest, isEmpty } = await sandbox.diff();
    const result = await sandbox.commit({ expect: digest, policy: { outwardLinks: "allow" } });
    expect(result.noop).toBe(isEmpty);
    // The two were edited at different moments, so times are compared with what the sandbox itself showed.
    expectOracleEqual(takeOracle(plain), takeOracle(real), { ignore: ["mtimes"] });
    expectOracleEqual(shown, takeOracle(real));
    await sandbox.rollback();
    expectOracleEqual(original, takeOracle(real));
    expect((await sandbox.diff()).changes).toEqual([]);
  } finally {
    await sandbox.cleanup();
  }
}
