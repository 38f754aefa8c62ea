export { abandonStage, dropStage } from "./abandon-stage.ts";
export { applySteps } from "./apply-steps.ts";
export { checkUndo } from "./check-undo.ts";
export { giveBack } from "./give-back.ts";
export { reverseSteps } from "./reverse-steps.ts";
export { stageChanges } from "./stage-changes.ts";
export type { StageRequest } from "./stage-request.ts";
export type { Shelved, StepsResult } from "./steps-result.ts";
export { verifySteps } from "./verify-steps.ts";
