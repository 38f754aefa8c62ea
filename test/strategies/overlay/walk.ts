import { createHash } from "node:crypto";
import { type RelativePath, ROOT, joinPath, toBytePath } from "../../../src/model/byte-path.ts";
import type { Oracle, OracleRecord } from "../../support/oracle.ts";
import { recordOf } from "./expected-view.ts";
import type { TestSandbox } from "./sandbox.ts";

/** The whole view as the sandbox's own calls tell it, in the words of the oracle. */
export async function walkView(sandbox: TestSandbox, folder = ROOT): Promise<Oracle> {
  const { workspace, place } = sandbox;
  const found: OracleRecord[] = folder === ROOT ? [await describeEntry(sandbox, ROOT)] : [];
  for (const { name, nameBytes } of await workspace.list(place, folder)) {
    const bytes = nameBytes === undefined ? name : Buffer.from(nameBytes, "hex");
    const path = joinPath(folder, toBytePath(bytes));
    const record = await describeEntry(sandbox, path);
    found.push(record);
    if (record.type === "d") found.push(...(await walkView(sandbox, path)));
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function describeEntry(sandbox: TestSandbox, path: RelativePath): Promise<OracleRecord> {
  const { workspace, place } = sandbox;
  const entry = await workspace.stat(place, path);
  if (entry === null) throw new Error(`${path} is listed and not there`);
  const record = recordOf(path, entry, null);
  if (entry.type !== "file") return record;
  const content = await workspace.read(place, path);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { ...record, size: String(content.length), sha256 };
}
