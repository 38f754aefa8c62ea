import { SandboxCreationError } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Resource } from "../model/resource.ts";
import { hasPathLocation } from "../model/strategy-names.ts";
import { doOverlap, placeOnDevice } from "../platform/place-on-device.ts";

/**
 * Refuses a resource that lies inside another one of the plan, or around it: both sandboxes would own the same files,
 * and a commit would publish them twice. Links and bind mounts are seen through. Of what has no path, the same location
 * is the same thing, and one that goes on after a slash lies inside.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `overlap`).
 */
export function refuseOverlap(resource: Resource, others: readonly SandboxRecord[]): void {
  const twin = hasPathLocation(resource.type)
    ? undefined
    : others.find(
        ({ resource: { type, location } }) =>
          type === resource.type && isSharedLocation(location, resource.location),
      );
  if (twin !== undefined) throw shared(resource, twin.resource);
  const place = others.length === 0 ? null : placeOnDevice(resource.location);
  if (place === null) return;
  for (const { resource: other } of others) {
    const known = placeOnDevice(other.location);
    if (known === null || !doOverlap(place, known)) continue;
    throw shared(resource, other);
  }
}

function isSharedLocation(one: string, other: string): boolean {
  const [a = "", b = ""] = [one, other].map((location) => `${location.replace(/\/+$/, "")}/`);
  return a.startsWith(b) || b.startsWith(a);
}

function shared(resource: Resource, other: Resource): SandboxCreationError {
  const [id, own] = [other.resourceId, resource.resourceId].map((name) => JSON.stringify(name));
  return new SandboxCreationError(
    `The resource ${own} (${resource.location}) and ${id} (${other.location}) of the same plan share their content`,
    {
      data: { stage: "overlap", residue: [] },
      operation: "create",
      hint: "Work on both in the sandbox of the outer one, or use another plan.",
    },
  );
}
