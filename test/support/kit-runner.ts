import { describe, expect, test } from "vitest";

const declare: (title: string, body: () => Promise<void>) => void = test;

/** Binds the conformance kit to this runner, which wants every test to state an expectation of its own. */
export const kitRunner = {
  describe,
  test: (title: string, body: () => Promise<void>): void =>
    declare(title, () => expect(body()).resolves.toBeUndefined()),
};
