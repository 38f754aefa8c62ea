import type { ArgumentSpec } from "../command.ts";

/** A plan that is there. */
export const PLAN: ArgumentSpec = {
  name: "PLAN",
  description: "the plan; `coffer list` shows them",
};

/** One resource of a plan. */
export const RESOURCE: ArgumentSpec = {
  name: "RESOURCE",
  description: "one resource of the plan: its id, or its path",
};

/** Paths of a plan's diff. */
export const CHANGED: ArgumentSpec = {
  name: "PATH",
  description: "a changed path; RESOURCE:PATH where several resources have it",
  isMany: true,
};
