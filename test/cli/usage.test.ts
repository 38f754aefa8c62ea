import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../support/package-folder.ts";
import { answerOf } from "./answers.ts";
import { coffer, makeHome, node, program, run } from "./coffer.ts";
import { onTerminal } from "./terminal.ts";

const COMMANDS = [
  ...["run", "exec", "shell", "open", "sql", "path", "list", "status", "log", "diff"],
  ...["checkpoint", "checkpoints", "restore", "drop", "resolve", "fork"],
  ...["commit", "rollback", "clean", "recover"],
  ...["strategies", "doctor", "demo", "completion"],
];

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
  const names = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, name]) => name);
  expect(names).toEqual([...COMMANDS, "help"]);
  for (const name of COMMANDS) {
    const asked = coffer(home, [name, "--help"]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toContain(`Usage: coffer ${name}`);
    for (const option of ["--json", "--state <DIR>", "--config <FILE>", "-q, --quiet"])
      expect(asked.stdout).toContain(`  ${option} `);
    expect(asked.stdout).toMatch(/\nExamples:\n {2}# .*\n {2}.*coffer /);
  }
  const below = coffer(home, ["strategies", "new", "--help"]);
  expect(below).toMatchObject({ code: 0, stderr: "" });
  expect(below.stdout).toContain("Usage: coffer strategies new NAME");
  expect(coffer(home, ["help", "diff"]).stdout).toBe(coffer(home, ["diff", "--help"]).stdout);
});

test("fits its help into a terminal of 40 columns", () => {
  const { code, stdout } = onTerminal(makeHome(), ["commit", "--help"], { columns: 40 });
  expect(code).toBe(0);
  const [text = ""] = stdout.split("Examples:");
  expect(
    Math.max(
      ...text
        .split("\n")
        .slice(1)
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(40);
});

test("tells a wrong call as JSON where that is asked for", () => {
  const home = makeHome();
  for (const args of [["--json", "unknown"], ["list", "--unknown"], ["clean"], ["open", "plan"]])
    expect(answerOf(home, args, 2)).toEqual({
      error: {
        ...{ code: "USAGE", data: null },
        ...{ message: expect.any(String) as string, hint: expect.any(String) as string },
      },
    });
});

test("takes state directory and configuration from its options", () => {
  const home = makeHome({
    "file.txt": "text\n",
    "other.yaml": "resources:\n  own: { type: fs-file, location: file.txt }\n",
  });
  const places = ["--state", join(home.folder, "there"), "--config", "other.yaml"];
  answerOf(home, [...places, "open", "plan", "-r", "own"]);
  expect(answerOf(home, ["list", ...places])).toMatchObject([
    { planId: "plan", resources: [{ resourceId: "own" }] },
  ]);
  expect(answerOf(home, ["list"])).toEqual([]);
  expect(answerOf(home, ["list", "--config", "none.yaml"], 1)).toMatchObject({
    error: { code: "CONFIGURATION" },
  });
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
  const shown = (env: Record<string, string>): string =>
    onTerminal(home, ["doctor"], { env }).stdout;
  const escape = "\u001b[";
  expect(shown({ TERM: "xterm" })).toContain(escape);
  expect(shown({ TERM: "xterm", NO_COLOR: "1" })).not.toContain(escape);
  expect(shown({ TERM: "dumb" })).not.toContain(escape);
  expect(coffer(home, ["doctor"], { env: { TERM: "xterm" } }).stdout).not.toContain(escape);
});
