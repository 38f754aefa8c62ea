/* Strategies that are right in everything but one thing: what the conformance kit has to find. */
export * from "../defects/careless.ts";
export * from "../defects/checkpoints.ts";
export * from "../defects/cleanups.ts";
export * from "../defects/commits.ts";
export * from "../defects/conflicts.ts";
export * from "../defects/edits.ts";
export * from "../defects/forks.ts";
export * from "../defects/in-place.ts";
export * from "../defects/lifetime.ts";
export * from "../defects/phases.ts";
export * from "../defects/rollbacks.ts";
export * from "../defects/states.ts";
export * from "../defects/views.ts";
