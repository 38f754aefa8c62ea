import { mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * A place in which nobody may make a user namespace, because the kernel refuses that below a changed root. `fuse` tells
 * whether the FUSE device is open to everybody, as udev leaves it on ordinary machines.
 */
export function withoutNamespaces(folder: string, fuse: "open" | "closed"): string[] {
  const changedRoot = join(folder, "changed-root");
  mkdirSync(changedRoot);
  const device = 'mknod -m 666 "$0.fuse" c 10 229; mount --bind "$0.fuse" "$0/dev/fuse"';
  const script = [
    'mount --rbind / "$0"',
    ...(fuse === "open" ? [device] : []),
    'exec chroot "$0" "$@"',
  ].join("; ");
  const namespace = ["unshare", "--mount", "--propagation", "private", "--"];
  return [...namespace, "sh", "-ec", script, changedRoot];
}
