import { hasFields, writeRecord } from "../../../src/journal/record-file.ts";

const [file = "", value = ""] = process.argv.slice(2);
await writeRecord(
  file,
  {
    name: "sample",
    version: 1,
    isData: (data): data is { value: string } => hasFields(data, { value: "string" }),
  },
  { value },
);
