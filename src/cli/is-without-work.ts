import type { PlanDiff } from "../index.ts";

/** Whether a plan has nothing that a commit would publish, nor commits that were made inside. */
export function isWithoutWork({ resources, isEmpty }: PlanDiff): boolean {
  return isEmpty && Object.values(resources).every(({ commits }) => commits === undefined);
}
