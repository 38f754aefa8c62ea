import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/begin-transaction.ts", import.meta.url);

it("begins a transaction where the kernel does not say which boot this is (R262)", async () => {
  const hide = 'mount -t tmpfs none /proc/sys/kernel/random && exec "$@"';
  const wrapper = ["unshare", "--mount", "--propagation", "private", "sh", "-c", hide, "sh"];
  const run = await runChild(program, [join(tempFolder(), "state"), "0".repeat(26)], { wrapper });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toMatchObject({
    bootId: null,
    startTime: expect.stringMatching(/^\d+$/) as string,
  });
});
