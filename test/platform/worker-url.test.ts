import { expect, it } from "vitest";
import { workerUrl } from "../../src/platform/worker-url.ts";

it("names the compiled worker beside a compiled module", () => {
  const url = workerUrl("./threads/worker.ts", "file:///package/dist/tree/pool.js");
  expect(url.href).toBe("file:///package/dist/tree/threads/worker.js");
});

it("names the source of the worker where the sources themselves run", () => {
  const url = workerUrl("../worker.ts", "file:///checkout/src/tree/threads/pool.ts");
  expect(url.href).toBe("file:///checkout/src/tree/worker.ts");
});
