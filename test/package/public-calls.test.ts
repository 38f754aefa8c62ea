import { expect, test } from "vitest";
import { ConsumerProject } from "./consumer-project.ts";

const STRATEGIES = ["filesystem_copy", "copy_on_write", "overlay"];

test("tells status, order and undo data of what is committed to whoever has only the package (R129)", () => {
  const project = new ConsumerProject(STRATEGIES);
  project.run("commit", STRATEGIES.map((name) => `${name}=${name}`).join(","));
  const { sandboxes, statuses, work, journal, history } = project.run("look");
  expect(sandboxes.map(({ ref }) => ref.resourceId)).toEqual(STRATEGIES);
  expect(sandboxes.map(({ status }) => status)).toEqual(statuses);
  expect(statuses).toEqual(STRATEGIES.map(() => "COMMITTED"));
  expect([work.transactions, work.sandboxes, journal]).toEqual([[], [], []]);
  expect(history.map(({ transaction }) => `${transaction}.json`)).toEqual(
    project.ask("ls", "state/done"),
  );
  for (const { undoable, transaction } of sandboxes) {
    expect(transaction).toBe(history[0]?.transaction);
    expect(undoable.possible).toBe(true);
    const kept = project.ask("grep", "-rhx", "apples 3", undoable.path ?? "");
    expect(kept).toEqual(["apples 3"]);
  }
  const preview = { possible: true, obstacle: null, changed: ["prices.txt"] };
  expect(project.run("preview")).toMatchObject(STRATEGIES.map(() => preview));
  project.run("undo");
  const after = project.run("look");
  expect(after.statuses).toEqual(STRATEGIES.map(() => "ACTIVE"));
  expect(after.sandboxes.every(({ undoable }) => !undoable.possible)).toBe(true);
  for (const { undoable } of sandboxes) expect(project.ask("ls", undoable.path ?? "")).toEqual([]);
  project.run("cleanup");
  expect(project.run("look").sandboxes).toEqual([]);
});

test("tells the state of the journal after a kill, and what recovery made of it, to whoever has only the package (R129)", () => {
  const project = new ConsumerProject(["first", "second"]);
  const pid = project.die("first=filesystem_copy,second=killed");
  const [transaction = ""] = project.ask("ls", "state/tx");
  const look = project.run("look");
  expect(look.journal).toMatchObject([
    {
      ...{ transaction, pid, kind: "commit", decision: "COMMIT" },
      locations: ["first", "second"].map((name) => expect.stringMatching(`/${name}$`) as string),
    },
  ]);
  expect(project.ask("grep", "-c", "COMMIT", `state/tx/${transaction}/decision`)).toEqual(["1"]);
  expect(look.work.transactions).toEqual([transaction]);
  expect(look.sandboxes.map((one) => [one.interrupted, one.transaction])).toEqual([
    [true, transaction],
    [true, transaction],
  ]);
  expect(look.history).toEqual([]);
  expect(project.run("look")).toEqual(look);

  expect(project.run("recover")).toMatchObject({
    transactions: [{ transaction, outcome: "committed", error: null }],
    complete: true,
  });
  const after = project.run("look");
  expect([after.journal, after.work.transactions]).toEqual([[], []]);
  expect(after.statuses).toEqual(["COMMITTED", "COMMITTED"]);
  expect(after.history).toMatchObject([{ transaction, members: [{}, {}] }]);
  expect(project.ask("cat", "first/prices.txt", "second/prices.txt")).toEqual([
    "apples 5",
    "apples 5",
  ]);
  project.run("cleanup");
});
