// Runs every check that needs no test run, all of them, and names those that failed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const CHECKS = {
  types: ["tsc", "-p", "tsconfig.json"],
  lint: ["oxlint"],
  format: ["prettier", "--check", "--log-level", "warn", "."],
  dependencies: [
    "depcruise",
    ...["src", "test", "bench", "examples", "plugins"].filter(existsSync),
  ],
  unused: ["knip"],
  duplicates: ["node", "scripts/check-duplicates.mjs"],
  changelog: ["node", "scripts/check-changelog.mjs", "CHANGELOG.md"],
  mutants: ["node", "scripts/mutants/run.mjs", "--check"],
  leaks: ["node", "scripts/check-leaks.mjs"],
};

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(CHECKS);
const failed = names.filter((name) => {
  const [command, ...args] = CHECKS[name];
  console.log(`- ${name}`);
  // npm puts node_modules/.bin on the path.
  const done = spawnSync(command, args, { stdio: "inherit" });
  if (done.error) throw done.error;
  return done.status !== 0;
});
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(", ")}`);
  process.exit(1);
}
