import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { coffer, makeHome, node, program, run } from "./coffer.ts";

const COMMANDS = [
  ...[
    "run",
    "exec",
    "shell",
    "open",
    "sql",
    "path",
    "list",
    "status",
    "log",
    "diff",
    "checkpoint",
    "checkpoints",
    "restore",
  ],
  ...[
    "drop",
    "resolve",
    "fork",
    "commit",
    "rollback",
    "clean",
    "recover",
    "strategies",
    "doctor",
    "demo",
    "completion",
  ],
];

test("completes commands, options and the plans that are there in bash", () => {
  const home = makeHome();
  answerOf(home, ["open", "holiday", "-r", "filesystem_copy+file:file.txt"]);
  const completed = (...words: readonly string[]): string[] => {
    const given = words.map((word) => `'${word}'`).join(" ");
    const lines = [
      `coffer() { "${node}" "${program}" "$@"; }`,
      `source <(coffer completion bash)`,
      `COMP_WORDS=(coffer ${given}) COMP_CWORD=${words.length}`,
      `_coffer; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ];
    const { stdout, stderr } = run(home, "bash", ["-c", lines.join("\n")]);
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n");
  };
  expect(completed("")).toEqual(expect.arrayContaining(COMMANDS));
  expect(completed("chec")).toEqual(["checkpoint", "checkpoints"]);
  expect(completed("status", "ho")).toEqual(["holiday"]);
  expect(completed("commit", "holiday", "--e")).toEqual(["--expect"]);
  expect(completed("strategies", "ne")).toEqual(["new"]);
  expect(completed("run", "--outside", "")).toEqual(["discard", "read-only", "allow"]);
  expect(completed("run", "-p", "")).toEqual(["holiday"]);
  expect(completed("completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(completed("help", "chec")).toEqual(["checkpoint", "checkpoints"]);
});

test("completes commands, options and the plans that are there in fish", () => {
  const home = makeHome();
  answerOf(home, ["open", "holiday", "-r", "filesystem_copy+file:file.txt"]);
  const completed = (line: string): string[] => {
    const lines = [
      `function coffer; "${node}" "${program}" $argv; end`,
      "coffer completion fish | source",
      `complete -C '${line}'`,
    ];
    const { stdout, stderr } = run(home, "fish", ["--no-config", "-c", lines.join("\n")]);
    expect(stderr).toBe("");
    return stdout.split("\n").flatMap((text) => text.split("\t", 1)[0] || []);
  };
  expect(completed("coffer ")).toEqual(expect.arrayContaining(COMMANDS));
  expect(completed("coffer chec")).toEqual(["checkpoint", "checkpoints"]);
  expect(completed("coffer status ho")).toEqual(["holiday"]);
  expect(completed("coffer commit holiday --e")).toEqual(["--expect"]);
});

test("completes what is typed in an interactive zsh", () => {
  const home = makeHome();
  answerOf(home, ["open", "holiday", "-r", "filesystem_copy+file:file.txt"]);
  const start = [
    `coffer() { "${node}" "${program}" "$@"; }`,
    "autoload -U compinit; compinit -u -D; source <(coffer completion zsh); print REA''DY",
  ];
  const lines = [
    "zmodload zsh/zpty",
    "zpty typed zsh -f -i",
    ...start.map((line) => `zpty -w typed ${JSON.stringify(line).replaceAll("$", "\\$")}`),
    "zpty -r -m typed seen '*READY*'",
    String.raw`zpty -w -n typed $'coffer stat\tho\t\n'`,
    "zpty -r -m typed seen '*holiday*is open*'",
    "print -r -- $seen; zpty -d typed",
  ];
  const { stdout } = run(home, "timeout", ["60", "zsh", "-f", "-c", lines.join("\n")], {
    env: { TERM: "dumb" },
  });
  expect(stdout).toContain("is open");
});

test("names every command for fish too, and no other shell", () => {
  const home = makeHome();
  const zsh = answerOf(home, ["completion", "zsh"]) as { script: string };
  expect(zsh.script).toMatch(/^#compdef coffer\n/);
  const fish = coffer(home, ["completion", "fish"]).stdout;
  const named = [...fish.matchAll(/ -f -n '[^']*' -a (\S+) -d '/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(COMMANDS));
  expect(fish).toContain("-l expect -r -d");
  expect(answerOf(home, ["completion", "tcsh"], 2)).toMatchObject({ error: { code: "USAGE" } });
});
