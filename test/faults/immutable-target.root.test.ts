import { join } from "node:path";
import { expect, it } from "vitest";
import { SandboxCommitError, SandboxConflictError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { makePlace, openPlace, shell } from "./place.ts";

const NAMES = ["a", "b", "c", "d", "e"];

for (const strategy of ["overlay", "copy_on_write", "filesystem_copy"]) {
  it(`${strategy}: brings everything back when one file in the middle cannot be replaced (R28)`, async () => {
    const place = makePlace(
      "for name in a b c d e; do printf '%s\\nkept\\n' $name > $name.txt; done; chattr +i c.txt",
    );
    await using coffer = await openPlace(place);
    const ref = await coffer.create("plan", place.real, { strategy });
    const sandbox = coffer.sandbox(ref);
    for (const name of NAMES) await sandbox.write(`${name}.txt`, "edited\nkept\n");
    await sandbox.remove("e.txt");
    const before = takeOracle(place.real);
    const { digest } = await sandbox.diff();

    const failed: unknown = await sandbox.commit().catch((error: unknown) => error);

    expect(failed).toBeInstanceOf(SandboxCommitError);
    expect(failed).toMatchObject({
      data: { originalRestored: true, undoDataAt: null, failedPath: "c.txt" },
    });
    expectOracleEqual(before, takeOracle(place.real));
    expect(await coffer.status(ref)).toBe("ACTIVE");
    expect((await sandbox.diff()).digest).toBe(digest);
    expect(shell(place.state, "find area -name 'tx-*'; ls tx")).toBe("");
    expect((await sandbox.describe()).lastError).toMatchObject({ code: "SANDBOX_COMMIT" });

    // Whoever takes the flag away has changed the file: nothing else tells that its content is the same.
    shell(place.real, "chattr -i c.txt");
    const refused: unknown = await sandbox.commit().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SandboxConflictError);
    expect(refused).toMatchObject({ data: { conflicts: [{ path: "c.txt" }] } });
    await sandbox.commit({ merge: true });
    expect(shell(place.real, "cat *.txt")).toBe("edited\nkept\n".repeat(4));
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(place.real));
    await sandbox.cleanup();
    expect(shell(join(place.state, "area"), "find sandboxes")).toBe("sandboxes\n");
  });
}
