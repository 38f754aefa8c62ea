// Usage: sum-results.mjs FOLDER STEPS — adds up the results that vitest wrote as JSON into a folder,
// names every test that did not pass, and prints one line. Failed steps that show no failed test
// count as one failure.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const LINES_OF_A_MESSAGE = 12;

const [folder, steps] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder)) {
  const result = JSON.parse(readFileSync(join(folder, name), "utf8"));
  passed += result.numPassedTests;
  failed += result.numTotalTests - result.numPassedTests;
  for (const file of result.testResults) tellFailures(file);
}
failed = Math.max(failed, Number(steps));
if (passed === 0) failed = Math.max(failed, 1);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** The output of a whole run is long; whoever reads its end finds out what went wrong. */
function tellFailures({ name, status, message, assertionResults }) {
  const bad = assertionResults.filter((test) => test.status !== "passed");
  if (bad.length === 0 && status !== "passed") console.log(`failed: ${name}\n${indented(message)}`);
  for (const test of bad) {
    console.log(`${test.status}: ${name}: ${test.fullName}`);
    console.log(indented(test.failureMessages?.join("\n") ?? ""));
  }
}

function indented(text) {
  const lines = text.split("\n").slice(0, LINES_OF_A_MESSAGE);
  return lines.map((line) => `  ${line}`).join("\n");
}
