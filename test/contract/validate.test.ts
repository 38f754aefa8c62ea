import { describe, expect, it } from "vitest";
import { constructStrategy } from "../../src/contract/construct.ts";
import { REQUIRED_METHODS } from "../../src/contract/strategy.ts";
import { validateStrategy } from "../../src/contract/validate.ts";
import { withDefaults } from "../../src/contract/capabilities.ts";
import { StrategyValidationError } from "../../src/errors/index.ts";
import { DirectorySnapshot } from "../fixtures/strategies/directory-snapshot.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { hostsBelow } from "../fixtures/strategies/test-host.ts";
import { tempFolder } from "../support/temp.ts";

const about = { name: "mine" };

/** A complete strategy with some members set to something else on the instance itself. */
function snapshotWith(members: Readonly<Record<string, unknown>>): DirectorySnapshot {
  const strategy = new DirectorySnapshot(hostsBelow(tempFolder())("mine"));
  return Object.assign(strategy, members);
}

/** The data of the error for a strategy that must not pass. */
async function findings(strategy: unknown): Promise<StrategyValidationError["data"]> {
  const error = await rejection(() => validateStrategy(strategy, about));
  expect(error).toBeInstanceOf(StrategyValidationError);
  expect(error).toMatchObject({ code: "STRATEGY_VALIDATION", strategyName: "mine" });
  return (error as StrategyValidationError).data;
}

describe("the nine methods", () => {
  it("accepts inherited, async and instance-assigned methods alike", () => {
    class Heir extends DirectorySnapshot {
      override cleanup = async (): Promise<void> => {};
      override async rollback(): Promise<void> {}
    }
    const strategy = new Heir(hostsBelow(tempFolder())("mine"));
    expect(() => validateStrategy(strategy, about)).not.toThrow();
  });

  it.each(REQUIRED_METHODS)("names a missing %s and nothing else (R275)", async (method) => {
    const data = await findings(snapshotWith({ [method]: undefined }));
    expect(data).toEqual({ missing: [method], notCallable: [], problems: [] });
  });

  it.each(REQUIRED_METHODS)("names a %s that is not a function", async (method) => {
    for (const value of [null, "text", 1, {}]) {
      const data = await findings(snapshotWith({ [method]: value }));
      expect(data).toEqual({ missing: [], notCallable: [method], problems: [] });
    }
  });

  it("lists everything that is wrong at once", async () => {
    const data = await findings(
      snapshotWith({
        read: undefined,
        commit: undefined,
        diff: 7,
        capabilities: { undoCommit: true },
      }),
    );
    expect(data.missing).toEqual(["read", "commit"]);
    expect(data.notCallable).toEqual(["diff"]);
    expect(data.problems).toHaveLength(1);
  });

  it("lists all nine for an empty object", async () => {
    expect((await findings({})).missing).toEqual(REQUIRED_METHODS);
  });

  it.each([undefined, null, 3, "text", () => {}])("refuses %s as a strategy", async (value) => {
    expect((await findings(value)).problems).toHaveLength(1);
  });

  it("calls none of the methods and survives getters that throw", async () => {
    const calls: string[] = [];
    const members = REQUIRED_METHODS.map((method) => [method, () => calls.push(method)] as const);
    const strategy = Object.fromEntries(members);
    validateStrategy(strategy, about);
    Object.defineProperty(strategy, "read", {
      get: () => {
        throw new RangeError("not today");
      },
    });
    const data = await findings(strategy);
    expect(data.notCallable).toEqual(["read"]);
    expect(data.problems).toHaveLength(1);
    expect(calls).toEqual([]);
  });

  it("refuses a strategy that every await would take for a promise", async () => {
    const strategy = snapshotWith({});
    const calledByAwait = "then";
    Reflect.set(strategy, calledByAwait, () => {});
    expect((await findings(strategy)).problems).toHaveLength(1);
  });
});

describe("capabilities", () => {
  it("treats everything that is not declared as absent", () => {
    const nothing = {
      isolation: "none",
      undoCommit: false,
      prepare: false,
      outcome: false,
      decides: null,
      path: false,
      copies: false,
      encloses: false,
      pathCalls: false,
      queries: false,
      checkpoints: "none",
      forks: false,
      drops: false,
      resolves: false,
      changeTracking: "scan",
      entries: "tree",
    };
    expect(withDefaults(undefined)).toEqual(nothing);
    expect(withDefaults({})).toEqual(nothing);
    expect(() => validateStrategy(snapshotWith({ capabilities: undefined }), about)).not.toThrow();
  });

  it.each([
    ["undoCommit", true, ["undoCommit"]],
    ["outcome", true, ["outcome"]],
    ["copies", true, ["beginCopy", "endCopy"]],
    ["encloses", true, ["beginCommand", "endCommand"]],
    ["pathCalls", true, ["list", "remove", "rename"]],
    ["decides", { group: "pg", max: 1 }, ["commitDeciding", "decided"]],
    [
      "prepare",
      true,
      ["prepare", "fence", "commitPrepared", "abandonPrepared", "reversePrepared", "forget"],
    ],
  ])("refuses %s without each of its methods", async (capability, value, methods) => {
    const capabilities = { [capability]: value };
    const none = await findings(snapshotWith({ capabilities }));
    expect(none.problems).toHaveLength(methods.length);
    const all = Object.fromEntries(methods.map((method) => [method, async () => {}]));
    expect(() => validateStrategy(snapshotWith({ capabilities, ...all }), about)).not.toThrow();
    for (const method of methods) {
      for (const instead of [undefined, "text"]) {
        const strategy = snapshotWith({ capabilities, ...all, [method]: instead });
        expect((await findings(strategy)).problems).toHaveLength(1);
      }
    }
  });

  it("refuses a path that is promised without getPath", async () => {
    const capabilities = { path: true };
    const data = await findings(snapshotWith({ capabilities, getPath: undefined }));
    expect(data.problems).toHaveLength(1);
  });

  it.each([
    [{ isolation: "partly" }],
    [{ undoCommit: "yes" }],
    [{ checkpoints: true }],
    [{ changeTracking: "guess" }],
    [{ decides: true }],
    [{ decides: { group: "", max: 1 } }],
    [{ decides: { group: "pg", max: 0 } }],
    [{ decides: { group: "pg" } }],
    [{ undo: true }],
    [["path"]],
    ["path"],
    [null],
  ])("refuses the descriptor %j", async (capabilities) => {
    expect((await findings(snapshotWith({ capabilities }))).problems).toHaveLength(1);
  });

  it("lists a misspelt capability and the methods that the others promise at once", async () => {
    const capabilities = { outcome: true, fork: true };
    const { problems } = await findings(snapshotWith({ capabilities }));
    expect(problems).toEqual([
      expect.stringContaining("forks"),
      "capabilities.outcome is declared but outcome is missing",
    ]);
  });

  it("refuses optional methods that are called without a capability and are not functions", async () => {
    const data = await findings(snapshotWith({ probe: true, deleteCheckpoint: "no" }));
    expect(data.notCallable).toEqual(["deleteCheckpoint", "probe"]);
  });
});

describe("construction", () => {
  const construct = (exported: unknown, options?: Readonly<Record<string, unknown>>) =>
    constructStrategy(exported, hostsBelow(tempFolder())("mine"), options, "mine");

  it("hands host and options to the class", () => {
    const strategy = construct(DirectorySnapshot, { depth: 3 }) as DirectorySnapshot;
    expect(strategy.host.strategyName).toBe("mine");
    expect(strategy.options).toEqual({ depth: 3 });
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an object", {}],
    ["an array", []],
    ["an arrow function", () => {}],
    ["an async function", async () => {}],
    ["a generator", function* () {}],
  ])("refuses %s as a class", async (_, exported) => {
    const error = await rejection(() => construct(exported));
    expect(error).toBeInstanceOf(StrategyValidationError);
    expect((error as StrategyValidationError).data.problems).toHaveLength(1);
  });

  it.each([new RangeError("no"), "no", undefined, 0])(
    "keeps what the constructor threw as the cause: %s",
    async (thrown) => {
      class Throwing extends DirectorySnapshot {
        constructor() {
          super(hostsBelow("/nowhere")("mine"));
          throwAnything(thrown);
        }
      }
      const error = await rejection(() => construct(Throwing));
      expect(error).toBeInstanceOf(StrategyValidationError);
      expect(error.cause).toBe(thrown);
      expect(Object.hasOwn(error, "cause")).toBe(true);
    },
  );
});

/** Throws a value that need not be an error. */
function throwAnything(value: unknown): never {
  throw value;
}
