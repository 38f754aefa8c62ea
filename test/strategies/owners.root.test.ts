import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { ordinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";
import { run, shell } from "./shell.ts";
import { COPIES, KERNEL, PLAIN, openBench } from "./subjects.ts";

const program = new URL("./programs/life.ts", import.meta.url);

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("keeps owners and groups through copy, commit and undo as root (R170)", async () => {
    const folder = tempFolder();
    const real = join(folder, "real");
    shell(folder, "mkdir -p real/d; cd real; for f in a b d/c; do printf $f > $f; done; ln -s a l");
    shell(real, "chown 1001:1002 a; chown 2001:2002 b; chown 3001:3002 d d/c; chown -h 1:2 l");
    const before = takeOracle(real);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    const workspace = await sandbox.getPath();
    expectOracleEqual(before, takeOracle(workspace));
    shell(
      workspace,
      "printf more >> a; printf more >> d/c; chown 7:8 b; printf n > n; chown 9:9 n",
    );
    await sandbox.commit();
    const owners = run("stat", ["-c", "%n %u:%g", "a", "b", "d", "d/c", "l", "n"], real);
    expect(owners.trim().split("\n")).toEqual([
      "a 1001:1002",
      "b 7:8",
      "d 3001:3002",
      "d/c 3001:3002",
      "l 1:2",
      "n 9:9",
    ]);
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
  });
});

describe.each(COPIES)("$name", ({ strategy }) => {
  test("tells an ordinary user which owners could not be kept (R170)", async () => {
    const user = ordinaryUser();
    const real = join(user.home, "real");
    shell(user.home, "mkdir real; printf own > real/own; printf foreign > real/foreign");
    shell(user.home, `chown ${user.uid}:${user.gid} real real/own; chmod 0666 real/foreign`);
    const before = takeOracle(real);
    const args = [join(user.home, "state"), real, strategy, ""];
    const look = "stat -c '%n %u' foreign own";
    const result = await runChild(program, [...args, "printf more >> foreign", look], {
      uid: user.uid,
      env: user.env,
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const told = JSON.parse(result.stdout) as Record<string, unknown>;
    expect(told["metadata"]).toMatchObject({ ownersNotKept: 1 });
    expect(told["changes"]).toEqual([["foreign", "modified"]]);
    // The new file belongs to whoever could make it, and the report says so.
    expect(told["seen"]).toBe(`foreign ${user.uid}\nown ${user.uid}\n`);
    expect(told["warnings"]).toEqual([expect.stringContaining("foreign")]);
    expectOracleEqual(before, takeOracle(real));
  });
});
