import type { PlanDiff } from "../index.ts";

/** Whether a plan has nothing that a commit would publish, nor commits that were made inside. */
export function isWithoutWork({ resources, isEmpty }: PlanDiff): boolean {
  const views = Object.values(resources);
  return isEmpty && views.every((view) => (view.commits ?? view.strayCommits) === undefined);
}
