import { readFileSync, writeSync } from "node:fs";
import { deserialize } from "node:v8";
import {
  type StageRequest,
  abandonStage,
  applySteps,
  dropStage,
  giveBack,
  reverseSteps,
  stageChanges,
} from "../../../../src/tree/publish/index.ts";

/** Runs one operation of the publisher on a request that a test has written into a file. */
const OPERATIONS = {
  stage: stageChanges,
  apply: applySteps,
  reverse: reverseSteps,
  giveBack,
  abandon: abandonStage,
  drop: dropStage,
} as const;

const [name = "", file = ""] = process.argv.slice(2);
const request = deserialize(readFileSync(file)) as StageRequest;
const operation = OPERATIONS[name as keyof typeof OPERATIONS];
try {
  print(operation(request));
} catch (error) {
  print({ thrown: (error as { code?: unknown }).code, data: (error as { data?: unknown }).data });
  process.exitCode = 3;
}

function print(value: unknown): void {
  const text = JSON.stringify(value, (_, item: unknown) =>
    typeof item === "bigint" ? item.toString() : item,
  );
  writeSync(1, text);
}
