import { takeCoverage } from "node:v8";
import { afterAll } from "vitest";

// The runner gives its workers half a second to exit, which a busy machine may not keep.
afterAll(() => {
  if (process.env["NODE_V8_COVERAGE"] !== undefined) takeCoverage();
});
