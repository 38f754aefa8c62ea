import { takeCoverage } from "node:v8";
import { afterAll } from "vitest";

// The runner ends its workers by a signal, which would lose what NODE_V8_COVERAGE has collected.
afterAll(() => {
  if (process.env["NODE_V8_COVERAGE"] !== undefined) takeCoverage();
});
