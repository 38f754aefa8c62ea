import type { Change, SandboxRef } from "cofferdam";
import type { Bucket } from "./bucket.ts";
import type { Location } from "./location.ts";
import { type Edit, isUnchanged, stateOf } from "./object-state.ts";
import type { Place } from "./place.ts";

/** A sandbox at work: where its edits lie, and the bucket that they are edits of. */
export interface OpenSandbox {
  readonly ref: SandboxRef;
  readonly place: Place;
  readonly location: Location;
  readonly bucket: Bucket;
  /** The media types of new objects. */
  readonly contentTypes: Readonly<Record<string, string>>;
  /** The time of the call. */
  now(): Date;
}

/** An edit as the change that a commit of it would be. */
export function changeOf(location: Location, key: string, edit: Edit): Change {
  const { base, mine } = edit;
  const before = base && stateOf(base);
  const path = location.pathOf(key);
  if (isUnchanged(edit)) return { path, kind: "unchanged", before, after: before };
  const after = mine && stateOf(mine);
  if (base === null) return { path, kind: "added", before, after };
  if (mine === null) return { path, kind: "deleted", before, after };
  const kind = base.hash === mine.hash ? "attributesChanged" : "modified";
  return { path, kind, before, after };
}

/** The edits that a commit publishes. Those of a sandbox that was committed are published already. */
export async function unpublishedEdits({ place }: OpenSandbox): Promise<[string, Edit][]> {
  return (await place.published()) === null ? changedEdits(place) : [];
}

/** The edits that change something. */
export async function changedEdits(place: Place): Promise<[string, Edit][]> {
  return [...(await place.edits())].filter(([, edit]) => !isUnchanged(edit));
}
