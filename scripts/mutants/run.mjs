// Puts defects into a copy of this checkout, one after the other, and expects the tests that are
// named for each to fail.
// Usage: run.mjs [--only NAME]... | --check
// --check only tells whether the text of each defect is still there.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DEFECTS } from "./defects.mjs";

const LEAST = 30;
const root = fileURLToPath(new URL("../..", import.meta.url));
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true }, check: { type: "boolean" } },
});

const { only = [], check = false } = values;
const problems = checkDefects();
if (problems.length === 0 && !check) problems.push(...tryAll(chosen()));
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

function chosen() {
  return only.length === 0 ? DEFECTS : DEFECTS.filter(({ name }) => only.includes(name));
}

/** What is wrong with the list itself. */
function checkDefects() {
  const found = DEFECTS.length < LEAST ? [`${DEFECTS.length} defects, at least ${LEAST}`] : [];
  const names = DEFECTS.map(({ name }) => name);
  found.push(...only.filter((name) => !names.includes(name)).map((name) => `no defect ${name}`));
  for (const { name, file, text, replacement, tests } of DEFECTS) {
    if (names.indexOf(name) !== names.lastIndexOf(name))
      found.push(`${name}: the name is not unique`);
    if (text === replacement) found.push(`${name}: the replacement changes nothing`);
    const times = readFileSync(join(root, file), "utf8").split(text).length - 1;
    if (times !== 1) found.push(`${name}: its text is ${times} times in ${file}, not once`);
    for (const test of tests) {
      if (!existsSync(join(root, test))) found.push(`${name}: there is no ${test}`);
    }
  }
  return found;
}

/** Tries defects one by one; gives what is wrong with the tests. */
function tryAll(defects) {
  const copy = mkdtempSync(join(tmpdir(), "cofferdam-mutants-"));
  try {
    copyCheckout(copy);
    // In a copy where they fail anyway a defect would prove nothing.
    const settings = new Set(defects.map(({ faults }) => JSON.stringify(faults)));
    for (const faults of settings) {
      const same = defects.filter((defect) => JSON.stringify(defect.faults) === faults);
      const files = [...new Set(same.flatMap(({ tests }) => tests))];
      console.log(`${files.length} test files without any defect`);
      const title = same.map((defect) => defect.title).join("|");
      const { passed, titles } = runTests(copy, files, title, same[0].faults);
      if (titles.length > 0 || passed === 0) return ["They fail without any defect:", ...titles];
    }
    const survivors = defects.filter((defect) => !isKilled(copy, defect));
    console.log(`${defects.length - survivors.length} killed, ${survivors.length} survived`);
    return survivors.map(({ name }) => `survived: ${name}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function isKilled(copy, { name, file, text, replacement, tests, title, faults }) {
  const path = join(copy, file);
  const whole = readFileSync(path, "utf8");
  writeFileSync(
    path,
    whole.replace(text, () => replacement),
  );
  const begun = Date.now();
  const { titles } = runTests(copy, tests, title, faults);
  const killed = titles.length > 0;
  writeFileSync(path, whole);
  const seconds = Math.round((Date.now() - begun) / 1000);
  console.log(`${killed ? "killed  " : "SURVIVED"} ${name} (${seconds} s) ${titles[0] ?? ""}`);
  return killed;
}

function copyCheckout(copy) {
  const parts = ["src", "test", "scripts", "docs", "examples", "build", "dist", "package.json"];
  parts.push("tsconfig.json", "tsconfig.build.json", "vitest.config.ts");
  for (const part of parts.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  // Some tests start programs as other users, who have to get through.
  chmodSync(copy, 0o755);
}

/** Builds the copy and runs the tests with this in their titles: how many passed, and the titles of those that did not. */
function runTests(copy, files, title, faults) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const run = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project",
    faults === undefined ? "unit" : "faults",
  ];
  const reporter = ["--reporter", "json", "--outputFile", report];
  const args = [...run, "--bail", "1", ...reporter, "-t", title, ...files];
  const env = { ...process.env, COFFERDAM_FAULTS: JSON.stringify(faults ?? {}) };
  const done = spawnSync(process.execPath, args, { cwd: copy, stdio: "ignore", env });
  if (done.error) throw done.error;
  const { numPassedTests: passed, testResults } = JSON.parse(readFileSync(report, "utf8"));
  const wrong = testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length > 0) return tests.map((test) => test.fullName);
    return status === "failed" ? [`${name.slice(copy.length + 1)} as a whole`] : [];
  });
  return { passed, titles: wrong };
}
