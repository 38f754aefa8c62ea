import { SandboxCommitError } from "../errors/index.ts";
import type { PublishPolicy } from "../contract/strategy.ts";
import { type BytePath, displayPath } from "../model/byte-path.ts";
import { OutwardLinks } from "./outward-link.ts";
import { newSpecialBits } from "./special-bits.ts";
import type { TreeChange } from "./tree-change.ts";

/**
 * Applies the policy to what the sandbox introduced: outward links and special mode bits that the base did not have.
 * Gives the changes as they may be published.
 * @throws SandboxCommitError with `data.reason` `outwardLink` or `specialBits`; nothing was touched.
 */
export function applyPolicy(
  changes: readonly TreeChange[],
  root: BytePath,
  policy: PublishPolicy,
): TreeChange[] {
  const outward = new OutwardLinks(root, changes);
  return changes.map((change) => {
    const { before, after } = change;
    if (after === null) return change;
    const isNewLink = after.type === "symlink" && before?.target !== after.target;
    if (isNewLink && policy.outwardLinks !== "allow" && outward.has(change)) {
      throw refused(change, "outwardLink", "a link out of the resource", "outwardLinks");
    }
    const bits = newSpecialBits(before, after);
    if (bits === 0 || policy.specialBits === "allow" || inheritsGroup(change, bits)) return change;
    if (policy.specialBits === "drop")
      return { ...change, after: { ...after, mode: after.mode & ~bits } };
    throw refused(change, "specialBits", "setuid, setgid or sticky", "specialBits");
  });
}

/** A folder made inside a setgid folder gets the bit from the kernel, not from the sandbox's user. */
function inheritsGroup(change: TreeChange, bits: number): boolean {
  return bits === 0o2000 && change.after?.type === "directory" && change.before === null;
}

function refused(
  change: TreeChange,
  reason: string,
  what: string,
  setting: string,
): SandboxCommitError {
  const path = displayPath(change.path);
  return new SandboxCommitError(`The sandbox makes ${path} ${what}; nothing was published`, {
    operation: "commit",
    hint: `Change it in the sandbox, or allow it with policy.${setting}.`,
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: path,
      appliedCount: 0,
      reason,
    },
  });
}
