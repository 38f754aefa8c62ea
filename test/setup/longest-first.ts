import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, longest first. */
const LONG = [
  "testing/defects.root.test.ts",
  "conformance/overlay-copy.test.ts",
  "manager/recovery.test.ts",
  "conformance/overlay-userns.test.ts",
  "conformance/overlay-kernel.root.test.ts",
  "conformance/copy-on-write.test.ts",
  "conformance/filesystem-copy.test.ts",
  "manager/plan/commit-plan.test.ts",
  "tree/publish/cut-short.test.ts",
  "docs/code-blocks.test.ts",
  "conformance/example.test.ts",
  "tree/publish/publish.test.ts",
  "conformance/overlay-fuse.test.ts",
];

/** Begins with the long files, so that at the end no worker waits for the last of them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}`));
  return at < 0 ? LONG.length : at;
}
