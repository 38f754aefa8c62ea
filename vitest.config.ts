import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from "vitest/config";
import { LongestFirst } from "./test/setup/longest-first.ts";
import { installedFile, moduleNamed } from "./test/support/installed-file.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Tests name modules of `src/`, or the package; what runs is another file, which `fileOf` tells. */
function runInstead(fileOf: (module: string) => string): Plugin {
  return {
    name: "run-instead",
    enforce: "pre",
    resolveId(source: string, importer: string | undefined) {
      const named = moduleNamed(source);
      if (named !== undefined) return fileOf(named);
      if (importer === undefined || !source.startsWith(".") || !source.endsWith(".ts")) return null;
      const path = fileURLToPath(new URL(source, `file://${importer}`));
      return path.startsWith(`${root}src/`) ? fileOf(path.slice(`${root}src/`.length)) : null;
    },
  };
}

/**
 * The same module of `dist/`, built before the run: worker threads and child processes then find their files as they do
 * after an installation, and one compiled form serves every process whose coverage is counted.
 */
const runBuiltFiles = runInstead((module) => `${root}dist/${module.slice(0, -".ts".length)}.js`);

/**
 * vitest ends its workers by a signal, which loses the counts of their threads; with this option
 * among theirs it lets them exit.
 */
const orderlyExit =
  process.env["NODE_V8_COVERAGE"] === undefined ? [] : [`--diagnostic-dir=${root}coverage`];

/** The conformance kit of plug-ins, which runs with that of the built-in strategies on every file system. */
const PLUGIN_KITS = "plugins/*/test/conformance*.test.ts";
/** Suites of faults, which only the project for them runs. */
const LONG = ["sweep", "power", "soak"].map((suite) => `test/faults/${suite}/**`);
/** Tests that try many points one after the other: with the faults, and as an ordinary user. */
const SWEEPS = (
  JSON.parse(readFileSync(join(root, "scripts/faults/sweeping.json"), "utf8")) as string[]
).map((beginning) => `${beginning}*.test.ts`);

function project(
  name: string,
  files: { include: string[]; exclude?: string[] },
  plugin = runBuiltFiles,
  env: Record<string, string> = {},
): TestProjectInlineConfiguration {
  return {
    plugins: [plugin],
    test: {
      ...files,
      env,
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

/**
 * All tests that need only what is public, against the package as it was packed and installed; `npm run pack:check` says
 * where. Without that there is nothing to fall back to: the one file that is run then says so and fails.
 */
async function packed(): Promise<TestProjectInlineConfiguration> {
  const installed = process.env["COFFERDAM_PACKED"];
  if (installed === undefined) return project("packed", { include: ["test/setup/not-packed.ts"] });
  const { publicTests } = await import("./test/setup/public-tests.ts");
  return project(
    "packed",
    { include: await publicTests(root), exclude: ["test/matrix/**", ...LONG] },
    runInstead((module) => installedFile(installed, module)),
    { COFFERDAM_TEST_INSTALLED: installed },
  );
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
        include: ["test/**/*.test.ts", "plugins/*/test/**/*.test.ts"],
        exclude: ["test/matrix/**", PLUGIN_KITS, ...LONG, ...SWEEPS],
      }),
      project("unprivileged", {
        include: ["test/**/*.test.ts", "plugins/*/test/**/*.test.ts"],
        exclude: [
          "test/matrix/**",
          ...LONG,
          "test/quality/**",
          "**/*.root.test.ts",
          // A death is the same for every user, and these take long.
          "test/strategies/git_worktree/crash*.test.ts",
        ],
      }),
      project("matrix", { include: ["test/matrix/**/*.test.ts", PLUGIN_KITS] }),
      project("faults", {
        include: ["test/faults/{sweep,power,soak}/**/*.test.ts", ...SWEEPS],
      }),
      await packed(),
    ],
  },
});
