import { documentedExports } from "./documented-exports.mjs";
import { noDisableComments } from "./no-disable-comments.mjs";
import { noLateImports } from "./no-late-imports.mjs";
import { noLeftOutTests } from "./no-left-out-tests.mjs";
import { noMessageMatching } from "./no-message-matching.mjs";
import { noStrategyNames } from "./no-strategy-names.mjs";
import { requirementIds } from "./requirement-ids.mjs";

/** Rules of this project that no general linter has. */
export default {
  meta: { name: "cofferdam" },
  rules: {
    "documented-exports": documentedExports,
    "no-disable-comments": noDisableComments,
    "no-late-imports": noLateImports,
    "no-left-out-tests": noLeftOutTests,
    "no-message-matching": noMessageMatching,
    "no-strategy-names": noStrategyNames,
    "requirement-ids": requirementIds,
  },
};
