import { join } from "node:path";
import type { StorageArea } from "../contract/host.ts";
import { acquireLock } from "../locks/file-lock.ts";
import { removeTemporaries } from "./durable-file.ts";
import { hasFields, readRecordSync, type RecordFormat, writeRecord } from "./record-file.ts";

/** An area that was used at some time. */
export interface KnownArea {
  readonly path: string;
  readonly foundBy: StorageArea["foundBy"];
  /** UTC, ISO 8601. */
  readonly firstUsedAt: string;
}

const AREAS: RecordFormat<{ readonly areas: readonly KnownArea[] }> = {
  name: "areas",
  version: 1,
  isData: (value): value is { readonly areas: readonly KnownArea[] } =>
    hasFields(value, { areas: "object" }) &&
    Array.isArray(value["areas"]) &&
    value["areas"].every((area) => hasFields(area, { path: "string", foundBy: "string" })),
};

const LOCK_TIMEOUT_MS = 30_000;

/** Every area that this installation has used, in the order of first use. */
export function listAreas(stateDirectory: string): readonly KnownArea[] {
  return readRecordSync(join(stateDirectory, "areas.json"), AREAS)?.areas ?? [];
}

/** Remembers an area durably, once. */
export async function rememberArea(
  stateDirectory: string,
  area: Pick<KnownArea, "path" | "foundBy">,
): Promise<void> {
  if (isListed(listAreas(stateDirectory), area)) return;
  await using _lock = await lockList(stateDirectory);
  const areas = listAreas(stateDirectory);
  if (isListed(areas, area)) return;
  removeTemporaries(stateDirectory);
  const { path, foundBy } = area;
  const added = { path, foundBy, firstUsedAt: new Date().toISOString() };
  await writeRecord(join(stateDirectory, "areas.json"), AREAS, { areas: [...areas, added] });
}

/** Takes an area that is gone off the list, durably. */
export async function forgetArea(stateDirectory: string, path: string): Promise<void> {
  await using _lock = await lockList(stateDirectory);
  const areas = listAreas(stateDirectory).filter((area) => area.path !== path);
  await writeRecord(join(stateDirectory, "areas.json"), AREAS, { areas });
}

function lockList(stateDirectory: string): Promise<AsyncDisposable> {
  const limits = { exclusive: true, timeoutMs: LOCK_TIMEOUT_MS };
  return acquireLock(join(stateDirectory, "areas.lock"), limits);
}

function isListed(areas: readonly KnownArea[], { path }: Pick<KnownArea, "path">): boolean {
  return areas.some((area) => area.path === path);
}
