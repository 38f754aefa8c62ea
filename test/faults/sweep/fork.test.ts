import { defineSweep } from "../define-sweep.ts";
import { forkCleanupShape, forkShape, lastCleanupShape } from "../shapes/fork.ts";

defineSweep(
  "a fork of a plan is there whole or not at all, and nothing is left of half",
  forkShape,
);
defineSweep("a clean-up of a forked plan leaves the fork whole", (template) =>
  forkCleanupShape("origin", template),
);
defineSweep("a clean-up of a fork leaves the first plan whole", (template) =>
  forkCleanupShape("fork", template),
);
defineSweep("shared layers go with the last plan that uses them", lastCleanupShape);
