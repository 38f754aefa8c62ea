import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { RecordDamagedError } from "../../errors/index.ts";
import type { Head } from "./repository.ts";
import type { Site } from "./site.ts";

const FORMAT: RecordFormat<Head> = {
  name: "git-base",
  version: 1,
  isData: (value): value is Head =>
    hasFields(value, { commit: "string" }) &&
    (value["ref"] === null || typeof value["ref"] === "string"),
};

const fileOf = ({ folder }: Site): string => `${folder}/base.json`;

/** The commit that the sandbox started from, and the branch that it goes to. */
export async function readBase(site: Site): Promise<Head> {
  const base = await readRecord(fileOf(site), FORMAT);
  if (base !== null) return base;
  throw new RecordDamagedError("The record of the sandbox's first commit is missing", {
    data: { file: fileOf(site), reason: "truncated" },
    operation: "readRecord",
    hint: "Nothing was changed. Clean the sandbox up and make a new one.",
  });
}

/** Remembers durably what the sandbox starts from. */
export function writeBase(site: Site, base: Head): Promise<void> {
  return writeRecord(fileOf(site), FORMAT, base);
}
