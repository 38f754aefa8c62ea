import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { type OrdinaryUser, ordinaryUser, runAs } from "../support/privilege.ts";
import { PLAIN, type Subject } from "./subjects.ts";

const program = new URL("./programs/life.ts", import.meta.url);

interface Told {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly changes?: readonly (readonly [path: string, kind: string])[];
  readonly warnings?: readonly string[];
  /** What was seen of the resource after the commit. */
  readonly seen?: string;
  readonly status?: string;
  readonly error?: { readonly code: string; readonly data: unknown; readonly hint: unknown };
}

/** Lets an ordinary user make, edit, commit, look at the resource, and undo. */
async function live(
  user: OrdinaryUser,
  subject: Subject,
  script: string,
  look = "",
): Promise<Told> {
  const mode = (subject.properties?.["mode"] ?? "") as string;
  const args = [join(user.home, "state"), join(user.home, "real"), subject.strategy, mode];
  const { code, stdout, stderr } = await runChild(program, [...args, script, look], {
    uid: user.uid,
    env: user.env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Told;
}

function asUser(user: OrdinaryUser, script: string): void {
  expect(runAs(user, "sh", ["-ec", script])).toMatchObject({ code: 0, stderr: "" });
}

const CLOSED = `
  mkdir -p real/shut/deep real/read
  printf one > real/shut/one; printf two > real/shut/deep/two; printf three > real/read/three
  touch -d '2001-02-03 04:05:06.789' real/shut/one real/read/three real/shut/deep real/shut real/read
  chmod 0500 real/shut/deep real/shut; chmod 0555 real/read`;

describe.each(PLAIN)("$name", (subject) => {
  test("closed folders hinder neither copy nor commit nor undo (R167)", async () => {
    const user = ordinaryUser();
    asUser(user, CLOSED);
    const real = join(user.home, "real");
    const before = takeOracle(real);
    const edits = `
      chmod u+w read shut/deep
      printf changed > read/three; printf new > shut/deep/new; rm shut/deep/two
      chmod u-w read shut/deep`;
    const look = "cat read/three shut/deep/new; stat -c ' %a' read shut shut/deep; ls shut/deep";
    expect(await live(user, subject, edits, look)).toMatchObject({
      status: "ROLLED_BACK",
      seen: "changednew 555\n 500\n 500\nnew\n",
    });
    expectOracleEqual(before, takeOracle(real));
  });

  test("a file that may not be read is an error, never an unchanged one (R193)", async () => {
    const user = ordinaryUser();
    asUser(user, "mkdir real; printf secret > real/secret; printf open > real/open");
    const real = join(user.home, "real");
    const before = takeOracle(real);
    const blind = "printf edited > secret; chmod 0000 secret";
    const diffed = await live(user, subject, blind);
    expect(diffed.error).toMatchObject({
      code: "SANDBOX_PATH",
      data: { path: "secret", reason: "unreadable" },
      hint: expect.any(String) as string,
    });
    expect(diffed).not.toHaveProperty("seen");
    expectOracleEqual(before, takeOracle(real));
    asUser(user, "chmod 0000 real/secret");
    const made = await live(user, subject, "true");
    expect(made.error).toMatchObject({
      code: "SANDBOX_CREATION",
      hint: expect.any(String) as string,
    });
  });
});

test("leaves nothing of a sandbox in place whose resource cannot be read, and makes it later (R262)", async () => {
  const user = ordinaryUser();
  const none = { name: "none", strategy: "none" };
  asUser(user, "mkdir -p real/shut; printf one > real/shut/one; chmod 0000 real/shut");
  const made = await live(user, none, "true");
  expect(made.error).toMatchObject({ code: "SANDBOX_CREATION" });
  expect(readdirSync(join(user.home, "state/area/sandboxes"))).toEqual([]);
  asUser(user, "chmod 0700 real/shut");
  const { changes } = await live(user, none, "printf two > shut/one");
  expect(changes).toEqual([["shut/one", "modified"]]);
});
