import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { coffer, makeHome } from "./coffer.ts";
import { homeWithOddStrategies } from "./odd-strategies.ts";

const COMMANDS = ["strategies", "doctor"] as const;

const ERROR_KEYS = [
  "at",
  "cause",
  "code",
  "data",
  "hint",
  "message",
  "operation",
  "planId",
  "resourceId",
  "sandboxId",
  "strategyName",
];

function errorOf(stdout: string): Record<string, unknown> {
  const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
  return error;
}

test.for(COMMANDS)("%s of a missing path is one clear line and a hint", (command) => {
  const { code, stdout, stderr } = coffer(makeHome(), [command, "missing"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^coffer: .*missing.*\nhint: .*\n$/);
});

test("a plan with a strategy of a plug-in says where it is known, when asked from elsewhere", () => {
  const home = homeWithOddStrategies({ "site/page": "old\n" });
  expect(coffer(home, ["open", "try", "-r", "bare+dir:./site"]).code).toBe(0);
  const { code, stderr } = coffer(home, ["diff", "try"], { cwd: home.folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(/no strategy named "bare"\nhint: Available: .*cofferdam\.yaml.*--config/);
});

test.for(COMMANDS)("%s --json of a missing path gives the JSON of the error", (command) => {
  const { code, stdout, stderr } = coffer(makeHome(), [command, "missing", "--json"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const error = errorOf(stdout);
  expect(Object.keys(error).toSorted()).toEqual(ERROR_KEYS);
  expect(error).toMatchObject({ code: "SANDBOX_CREATION", data: { stage: "resource" } });
});

test.for(COMMANDS)(
  "%s tells everything that is wrong with a configuration at once (R124)",
  (command) => {
    const home = makeHome({ "cofferdam.yaml": "sandbx: {}\nundo: { retention_days: never }\n" });
    const { code, stdout } = coffer(home, [command, "--json"]);
    expect(code).toBe(1);
    const file = join(home.project, "cofferdam.yaml");
    expect(errorOf(stdout)).toMatchObject({
      code: "CONFIGURATION",
      data: {
        file,
        problems: [
          { keyPath: "sandbx", line: 1 },
          { keyPath: "undo.retention_days", line: 2 },
        ],
      },
    });
    const lines = coffer(home, [command]).stderr.split("\n");
    expect(lines[0]).toMatch(/^coffer: /);
    expect(lines[1]).toMatch(/^ {2}/);
    expect(lines[2]).toMatch(/^hint: /);
  },
);

test("a name cannot send commands to the terminal", () => {
  const home = makeHome();
  const { stderr } = coffer(home, ["doctor", "\u001b[2J\u0007missing"]);
  expect(stderr).toContain("missing");
  expect(stderr).not.toMatch(/[\u001b\u0007]/);
});

test.each(["doctor", "strategies"])(
  "the name of a folder cannot send commands to the terminal: coffer %s",
  (command) => {
    const home = makeHome({ "\u001b[2J\u0007folder/file": "text\n" });
    const { code, stdout } = coffer(home, [command, "\u001b[2J\u0007folder"]);
    expect(code).toBe(0);
    expect(stdout).toContain("folder");
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  },
);

test("a state directory that others could swap is refused (R233)", () => {
  const home = makeHome();
  const open = join(home.folder, "open");
  mkdirSync(open);
  chmodSync(open, 0o777);
  const { code, stdout } = coffer(home, ["strategies", "--json"], {
    env: { XDG_STATE_HOME: open },
  });
  expect(code).toBe(1);
  expect(errorOf(stdout)).toMatchObject({
    code: "RECORD_DAMAGED",
    data: { reason: "foreignOwner" },
  });
});

test.for([
  ["setuid file", "chmod 4755 page.txt", "special_bits", "drop"],
  ["link that leads out", "ln -s /etc/hostname way-out", "outward_links", "allow"],
] as const)("a refused %s is told with the setting that allows it", ([, edit, setting, answer]) => {
  const home = makeHome({ "page.txt": "a page\n" });
  const run = ["run", "-p", "bold", "--commit", "--", "sh", "-c", edit];
  const refused = coffer(home, run);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toMatch(new RegExp(`hint: .*cofferdam\\.yaml .*${setting}: .*${answer}`));
  writeFileSync(join(home.project, "cofferdam.yaml"), `publish: { ${setting}: ${answer} }\n`);
  expect(coffer(home, ["commit", "bold"]).code).toBe(0);
});
