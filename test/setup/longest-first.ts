import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, longest first. */
const LONG = [
  "test/testing/defects.root.test.ts",
  "test/manager/recovery.test.ts",
  "plugins/object-store/test/outage.test.ts",
  "test/testing/database-defects.test.ts",
  "test/conformance/git-worktree.test.ts",
  "test/strategies/transaction_rollback/sqlite/sandbox.test.ts",
  "test/conformance/example.test.ts",
  "test/strategies/git_worktree/settling-renames.test.ts",
  "test/conformance/overlay-fuse.test.ts",
  "test/strategies/transaction_rollback/mariadb/random-statements.test.ts",
  "test/docs/code-blocks.test.ts",
  "plugins/container/test/system.test.ts",
  "plugins/container/test/plan.test.ts",
  "plugins/database-snapshot/test/rows.test.ts",
  "test/strategies/settling-rules.test.ts",
  "test/conformance/filesystem-copy.test.ts",
  "test/conformance/copy-on-write.test.ts",
  "plugins/database-snapshot/test/plan.root.test.ts",
];

/** Begins with the long files, so that at the end no worker waits for the last of them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}`));
  return at < 0 ? LONG.length : at;
}
