// Usage: sum-results.mjs FOLDER STEPS — adds up the results that vitest wrote as JSON into a folder
// and prints one line. Failed steps that show no failed test count as one failure.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [folder, steps] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder)) {
  const result = JSON.parse(readFileSync(join(folder, name), "utf8"));
  passed += result.numPassedTests;
  failed += result.numTotalTests - result.numPassedTests;
}
failed = Math.max(failed, Number(steps));
if (passed === 0) failed = Math.max(failed, 1);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
