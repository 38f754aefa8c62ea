import { SandboxCreationError } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Resource } from "../model/resource.ts";
import { doOverlap, placeOnDevice } from "../platform/place-on-device.ts";

/**
 * Refuses a resource that lies inside another one of the plan, or around it: both sandboxes would own the same files,
 * and a commit would publish them twice. Links and bind mounts are seen through.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `overlap`).
 */
export function refuseOverlap(resource: Resource, others: readonly SandboxRecord[]): void {
  const place = others.length === 0 ? null : placeOnDevice(resource.location);
  if (place === null) return;
  for (const { resource: other } of others) {
    const known = placeOnDevice(other.location);
    if (known === null || !doOverlap(place, known)) continue;
    const [id, own] = [other.resourceId, resource.resourceId].map((name) => JSON.stringify(name));
    throw new SandboxCreationError(
      `The resource ${own} (${resource.location}) and ${id} (${other.location}) of the same plan share files`,
      {
        data: { stage: "overlap", residue: [] },
        operation: "create",
        hint: "Work on both in the sandbox of the outer one, or use another plan.",
      },
    );
  }
}
