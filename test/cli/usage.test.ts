import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../support/package-folder.ts";
import { coffer, makeHome, node, program, run } from "./coffer.ts";

test("prints the version of the package", () => {
  const home = makeHome();
  const manifest = join(packageFolder, "package.json");
  const version = spawnSync("sed", ["-n", 's/^  "version": "\\(.*\\)",$/\\1/p', manifest]);
  expect(coffer(home, ["--version"])).toEqual({
    code: 0,
    signal: null,
    stdout: version.stdout.toString(),
    stderr: "",
  });
});

test("prints the help of every command, and of all when none is named", () => {
  const home = makeHome();
  const { code, stdout } = coffer(home, ["--help"]);
  expect(code).toBe(0);
  const names = [...stdout.matchAll(/^ {2}(\w+) .*/gm)].map(([, name]) => name);
  expect(names).toEqual(["strategies", "doctor", "demo", "help"]);
  for (const name of ["strategies", "doctor", "demo"]) {
    const asked = coffer(home, [name, "--help"]);
    expect([asked.code, coffer(home, ["help", name]).stdout]).toEqual([0, asked.stdout]);
    expect(asked.stdout).toContain(`Usage: coffer ${name}`);
  }
});

test.for([
  [["unknown"]],
  [["doctor", "--unknown"]],
  [["doctor", ".", "more"]],
  [["demo", "--strategy"]],
] as const)(
  "ends with 2 and says so on the standard error when it is called wrongly: %j",
  ([args]) => {
    const { code, stdout, stderr } = coffer(makeHome(), args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^coffer: .*\n+hint: .*\n$/);
  },
);

test("prints the help and ends with 2 when no command is given", () => {
  const home = makeHome();
  const { code, stdout, stderr } = coffer(home, []);
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: "",
    stderr: coffer(home, ["--help"]).stdout,
  });
});

test("keeps quiet when the reader of its output has gone", () => {
  const home = makeHome();
  const line = `"${node}" "${program}" strategies | true`;
  expect(run(home, "bash", ["-o", "pipefail", "-c", line])).toMatchObject({ code: 0, stderr: "" });
});

test("colours its output on a terminal only, and not where NO_COLOR is set", () => {
  const home = makeHome();
  const onTerminal = (env: Record<string, string>): string => {
    const command = `"${node}" "${program}" doctor`;
    return run(home, "script", ["-qec", command, "/dev/null"], { env }).stdout;
  };
  const escape = "\u001b[";
  expect(onTerminal({ TERM: "xterm" })).toContain(escape);
  expect(onTerminal({ TERM: "xterm", NO_COLOR: "1" })).not.toContain(escape);
  expect(onTerminal({ TERM: "dumb" })).not.toContain(escape);
  expect(coffer(home, ["doctor"], { env: { TERM: "xterm" } }).stdout).not.toContain(escape);
});
