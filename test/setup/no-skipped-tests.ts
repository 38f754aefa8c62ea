import type { Reporter, TestModule, Vitest } from "vitest/node";

/**
 * Fails a run in which a test did not run, whatever the way it was left out. A name pattern given on
 * the command line is the one exception, because it is how one test is tried alone.
 */
export default class NoSkippedTests implements Reporter {
  #allowed = false;

  onInit(vitest: Vitest): void {
    this.#allowed = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#allowed) return;
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    if (skipped.length === 0) return;
    const titles = skipped.map((test) => `  ${test.module.relativeModuleId} > ${test.fullName}`);
    process.stderr.write(`${skipped.length} tests did not run:\n${titles.join("\n")}\n`);
    process.exitCode = 1;
  }
}
