const KILLED = { suite: "crash", seed: 1 };
const POWER = { suite: "power", all: true, only: "only what is synced" };

/** Defects that only a death or a loss of power at the wrong moment shows. */
export const DURABILITY = [
  {
    name: "early-member-settled-by-itself",
    file: "src/manager/settle-sandbox.ts",
    text: "const told = prepare || isTogether(record) ?",
    replacement: "const told = prepare ?",
    tests: ["test/faults/sweep/unprepared.test.ts"],
    title: "only undo: a commit publishes",
    faults: KILLED,
  },
  {
    name: "decision-never-written",
    file: "src/journal/open-transaction.ts",
    text: "? nameOnce(file, join(this.folder, COMMIT_DRAFT))",
    replacement: "? Promise.resolve(file !== join(this.folder, COMMIT_DRAFT))",
    tests: ["test/faults/sweep/recovery.test.ts"],
    title: "in the middle of publishing of a plan",
    faults: KILLED,
  },
  {
    name: "cleaned-up-before-it-is-recorded",
    file: "src/manager/transaction.ts",
    text: "await this.#recordOutcome(results);\n      await this.#endCommitted();",
    replacement: "await this.#endCommitted();\n      await this.#recordOutcome(results);",
    tests: ["test/faults/sweep/recovery.test.ts"],
    title: "only had to be recorded of a plan",
    faults: KILLED,
  },
  {
    name: "decision-not-flushed-with-its-folder",
    file: "src/journal/durable-file.ts",
    text: "  await syncFolder(dirname(path));\n  return won;",
    replacement: "  return won;",
    tests: ["test/faults/power/plan.test.ts"],
    title: "ext4: a commit of fresh edits",
    faults: POWER,
  },
  {
    name: "staged-content-not-flushed",
    file: "src/tree/publish/staging.ts",
    text: "    syncfs(stage.fd);\n    const bytes",
    replacement: "    const bytes",
    tests: ["test/faults/power/plan.test.ts"],
    title: "ext4: a commit of fresh edits",
    faults: POWER,
  },
];
