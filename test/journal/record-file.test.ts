import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RecordDamagedError } from "../../src/errors/index.ts";
import {
  createRecord,
  encodeRecord,
  hasFields,
  readRecordSync,
  type RecordFormat,
  writeRecord,
} from "../../src/journal/record-file.ts";
import { faultPoints, runWithFault, type TracedProgram } from "../support/faults.ts";
import { tempFolder } from "../support/temp.ts";

interface Sample {
  readonly value: string;
}

const SAMPLE: RecordFormat<Sample> = {
  name: "sample",
  version: 1,
  isData: (data): data is Sample => hasFields(data, { value: "string" }),
};
const program = new URL("./programs/write-record.ts", import.meta.url);

function writer(folder: string): TracedProgram {
  const args = [join(folder, "sample.json"), "new"];
  return { program, args, touching: [folder] };
}

function damageOf(file: string): string {
  try {
    return `no error: ${JSON.stringify(readRecordSync(file, SAMPLE))}`;
  } catch (error) {
    if (!(error instanceof RecordDamagedError) || error.data.file !== file) throw error;
    return error.data.reason;
  }
}

it("gives back what was written, and null where nothing is", async () => {
  const file = join(tempFolder(), "sample.json");
  expect(readRecordSync(file, SAMPLE)).toBeNull();
  for (const value of ["", "plain", 'quotes " and \\ and \n', "ünï 🜃", "\u2028"]) {
    await writeRecord(file, SAMPLE, { value });
    expect(readRecordSync(file, SAMPLE)).toEqual({ value });
  }
});

it("writes files that only the owner may read, and leaves nothing beside them", async () => {
  const folder = tempFolder();
  await writeRecord(join(folder, "sample.json"), SAMPLE, { value: "x" });
  const listed = spawnSync("find", [folder, "-mindepth", "1", "-printf", "%f %m\n"]);
  expect(listed.stdout.toString()).toBe("sample.json 600\n");
});

it("refuses a record cut off at any byte (R221)", async () => {
  const file = join(tempFolder(), "sample.json");
  const whole = Buffer.from(encodeRecord(SAMPLE, { value: "some content, nothing special" }));
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(file, whole.subarray(0, length));
    expect(damageOf(file)).toBe("truncated");
  }
});

it("refuses a record with any flipped bit (R221)", async () => {
  const file = join(tempFolder(), "sample.json");
  const whole = Buffer.from(encodeRecord(SAMPLE, { value: "content" }));
  const seen = new Set<string>();
  for (let bit = 0; bit < whole.length * 8; bit += 1) {
    const copy = Buffer.from(whole);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(file, copy);
    seen.add(damageOf(file));
  }
  expect([...seen].toSorted()).toEqual(["checksum", "malformed", "newerFormat", "truncated"]);
});

it("refuses a record of a newer release and does not touch it (R221)", async () => {
  const file = join(tempFolder(), "sample.json");
  const newer = encodeRecord({ ...SAMPLE, version: 2 }, { value: "from the future" });
  writeFileSync(file, newer);
  expect(damageOf(file)).toBe("newerFormat");
  expect(readFileSync(file, "utf8")).toBe(newer);
});

it("refuses a record of another kind, of another shape, and a link", async () => {
  const folder = tempFolder();
  const [file, link] = [join(folder, "sample.json"), join(folder, "link.json")];
  await writeRecord(file, { ...SAMPLE, name: "other" }, { value: "x" });
  expect(damageOf(file)).toBe("malformed");
  writeFileSync(file, encodeRecord({ ...SAMPLE, isData: (v): v is never => v === v }, 3 as never));
  expect(damageOf(file)).toBe("malformed");
  symlinkSync(file, link);
  expect(damageOf(link)).toBe("malformed");
});

it("takes a record that cannot be read for neither missing nor damaged (R262)", () => {
  const file = join(tempFolder(), `${"x".repeat(300)}.json`);
  const failure = { code: "ENAMETOOLONG" };
  expect(() => readRecordSync(file, SAMPLE)).toThrowError(
    expect.objectContaining(failure) as Error,
  );
});

it("creates a record once, whoever comes first", async () => {
  const file = join(tempFolder(), "sample.json");
  const tries = Array.from({ length: 20 }, (_, at) =>
    createRecord(file, SAMPLE, { value: `${at}` }),
  );
  const won = await Promise.all(tries);
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(readRecordSync(file, SAMPLE)).toEqual({ value: `${won.indexOf(true)}` });
  expect(readdirSync(join(file, ".."))).toEqual(["sample.json"]);
});

it("flushes the content before the name, and the folder after it (R222)", async () => {
  const folder = tempFolder();
  const points = await faultPoints(writer(folder));
  expect(points.map(({ call }) => call)).toEqual(["openat", "write", "fsync", "rename", "fsync"]);
  expect(points[2]?.paths).toEqual([expect.stringMatching(/\.tmp$/)]);
  expect(points[4]?.paths).toEqual([folder]);
});

it("shows the old record or the new one when the writer is killed at any call (R221)", async () => {
  const calls = [];
  for (const point of await faultPoints(writer(tempFolder()))) {
    const folder = tempFolder();
    const file = join(folder, "sample.json");
    await writeRecord(file, SAMPLE, { value: "old" });
    const run = await runWithFault(writer(folder), point, { signal: "KILL" });
    expect(run.fired).toBe(true);
    calls.push(`${point.call}: ${readRecordSync(file, SAMPLE)?.value}`);
    await writeRecord(file, SAMPLE, { value: "again" });
    expect(readRecordSync(file, SAMPLE)).toEqual({ value: "again" });
  }
  expect(calls).toEqual(["openat: old", "write: old", "fsync: old", "rename: old", "fsync: new"]);
});

it("keeps the old record and removes its draft when a call fails (R221)", async () => {
  const points = await faultPoints(writer(tempFolder()));
  for (const point of points.slice(0, 4)) {
    const folder = tempFolder();
    await writeRecord(join(folder, "sample.json"), SAMPLE, { value: "old" });
    const run = await runWithFault(writer(folder), point, { error: "ENOSPC" });
    expect(run).toMatchObject({ fired: true, code: 1 });
    expect(readRecordSync(join(folder, "sample.json"), SAMPLE)).toEqual({ value: "old" });
    expect(readdirSync(folder)).toEqual(["sample.json"]);
  }
});
