import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { LongestFirst } from "./test/setup/longest-first.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/**
 * Tests name modules of `src/`, what runs is the same module of `dist/`, built before the run:
 * worker threads and child processes then find their files as they do after an installation, and
 * one compiled form serves every process whose coverage is counted.
 */
const runBuiltFiles = {
  name: "run-built-files",
  enforce: "pre" as const,
  resolveId(source: string, importer: string | undefined) {
    if (importer === undefined || !source.startsWith(".") || !source.endsWith(".ts")) return null;
    const path = fileURLToPath(new URL(source, `file://${importer}`));
    if (!path.startsWith(`${root}src/`)) return null;
    return `${root}dist/${path.slice(`${root}src/`.length, -".ts".length)}.js`;
  },
};

/**
 * vitest ends its workers by a signal, which loses the counts of their threads; with this option
 * among theirs it lets them exit.
 */
const orderlyExit =
  process.env["NODE_V8_COVERAGE"] === undefined ? [] : [`--diagnostic-dir=${root}coverage`];

/** Suites of faults with a project of their own; the races are among the other tests too, with few rounds. */
const LONG = ["sweep", "power", "soak"].map((suite) => `test/faults/${suite}/**`);

function project(
  name: string,
  files: { include: string[]; exclude?: string[] },
): TestProjectInlineConfiguration {
  return {
    plugins: [runBuiltFiles],
    test: {
      ...files,
      name,
      globals: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { requireAssertions: true },
      execArgv: ["--enable-source-maps", ...orderlyExit],
      server: { deps: { external: [/\/dist\/.*\.js$/] } },
      setupFiles: ["test/setup/coverage.ts"],
    },
  };
}

/** A folder for the results of each run, from which .ci/run makes its sum. */
const results = process.env["COFFERDAM_TEST_RESULTS"];
const resultFiles: ["json", { outputFile: string }][] =
  results === undefined ? [] : [["json", { outputFile: join(results, `${process.pid}.json`) }]];

export default defineConfig({
  test: {
    pool: "forks",
    // One more than the cores of a small machine, because much of the time a test waits for the disk.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    passWithNoTests: false,
    // Once for the whole run, not once for each project.
    globalSetup: ["test/setup/run-folder.ts", "test/setup/build.ts"],
    reporters: ["default", "./test/setup/no-skipped-tests.ts", ...resultFiles],
    projects: [
      project("unit", {
        include: ["test/**/*.test.ts"],
        exclude: ["test/matrix/**", ...LONG],
      }),
      project("unprivileged", {
        include: ["test/**/*.test.ts"],
        exclude: ["test/matrix/**", ...LONG, "test/quality/**", "test/**/*.root.test.ts"],
      }),
      project("matrix", { include: ["test/matrix/**/*.test.ts"] }),
      project("faults", { include: ["test/faults/{sweep,power,race,soak}/**/*.test.ts"] }),
    ],
  },
});
