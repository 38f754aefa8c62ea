import { createHash } from "node:crypto";

/** One digest over the changes of all sandboxes of a plan, by resource id in the order of bytes. */
export function planDigest(digests: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  const sorted = [...digests].toSorted(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  for (const [resourceId, digest] of sorted)
    hash.update(`${JSON.stringify(resourceId)}:${digest}\n`);
  return hash.digest("hex");
}
