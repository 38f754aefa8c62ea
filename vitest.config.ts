import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

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
    return { id: `${root}dist/${path.slice(`${root}src/`.length, -".ts".length)}.js` };
  },
};

export default defineConfig({
  plugins: [runBuiltFiles],
  test: {
    globals: false,
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    expect: { requireAssertions: true },
    execArgv: ["--enable-source-maps"],
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    globalSetup: ["test/setup/build.ts", "test/setup/leftovers.ts"],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/matrix/**"] },
      },
      { extends: true, test: { name: "matrix", include: ["test/matrix/**/*.test.ts"] } },
    ],
  },
});
