import { expect, it } from "vitest";
import { SandboxCommitError, SandboxError } from "../../../src/errors/index.ts";
import { receiveError, sendError } from "../../../src/tree/threads/thrown.ts";

/** What arrives when a value was thrown in another thread. */
function afterTravel(thrown: unknown): Error {
  return receiveError(structuredClone(sendError(thrown)));
}

it("gives an error of the family its class, data, hint and cause again", () => {
  const data = { originalRestored: true, undoDataAt: null, failedPath: "a", appliedCount: 2 };
  const cause = Object.assign(new Error("full"), { code: "ENOSPC" });
  const arrived = afterTravel(new SandboxCommitError("no", { data, hint: "wait", cause }));
  expect(arrived).toBeInstanceOf(SandboxCommitError);
  expect(arrived).toMatchObject({ data, hint: "wait", cause: { code: "ENOSPC" } });
});

it("makes a plain error of one whose class this thread does not know", () => {
  class Unheard extends SandboxError {
    constructor() {
      super("unheard", { data: {} });
      Object.defineProperty(this, "name", { value: "Unheard" });
    }
    override readonly code = "UNHEARD";
  }
  const arrived = afterTravel(new Unheard());
  expect(arrived).toBeInstanceOf(Error);
  expect(arrived).not.toBeInstanceOf(SandboxError);
});

it.each(["a text", 7, null, undefined])("makes an error of %s that was thrown", (thrown) => {
  const arrived = afterTravel(thrown);
  expect(arrived).toBeInstanceOf(Error);
  expect(arrived).not.toHaveProperty("code");
});
