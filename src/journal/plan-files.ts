import { readdirSync } from "node:fs";
import { join } from "node:path";
import { RecordDamagedError } from "../errors/index.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { CREATION, type Creation } from "./creation-record.ts";
import { fileNameOf } from "./id-key.ts";
import { hasFields, readRecordSync, type RecordFormat } from "./record-file.ts";

/** How the id of a plan is written. */
export const PLAN: RecordFormat<{ readonly planId: string }> = {
  name: "plan",
  version: 1,
  isData: (value): value is { readonly planId: string } => hasFields(value, { planId: "string" }),
};

/** Names of marks: hidden, so that nobody takes them for sandboxes. */
const MAKING = ".making-";

/** The file of a sandbox's record in the folder of its plan. */
export function recordFile(folder: string, sandboxId: string): string {
  return join(folder, "sandboxes", `${fileNameOf(sandboxId)}.json`);
}

/** The file that says that a sandbox is being made. */
export function markFile(folder: string, sandboxId: string): string {
  return join(folder, "sandboxes", `${MAKING}${fileNameOf(sandboxId)}.json`);
}

/** Whether a name in the folder of the sandboxes is that of a mark. */
export function isMark(name: string): boolean {
  return name.startsWith(MAKING);
}

/** The sandboxes that are being made in a plan, by its marks. */
export function creationsIn(folder: string): Creation[] {
  const sandboxes = join(folder, "sandboxes");
  const marks = readNames(sandboxes).filter(isMark);
  return marks.flatMap((name) => readIfWhole(join(sandboxes, name)) ?? []);
}

/** The names in a folder; none when there is no such folder. */
export function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return [];
  }
}

/** A mark that cannot be read says nothing, and stays for somebody to look at. */
function readIfWhole(file: string): Creation | null {
  try {
    return readRecordSync(file, CREATION);
  } catch (error) {
    if (!(error instanceof RecordDamagedError)) throw error;
    return null;
  }
}
