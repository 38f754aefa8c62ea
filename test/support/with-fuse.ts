/**
 * A command line in front of another: an ordinary user, to whom the device of FUSE is open as it is on any installed
 * system. A container's own device often is root's alone; here another node stands in its place, for this process only.
 */
export function asOrdinaryUser(uid: number, node: string): readonly string[] {
  const script = [
    'mknod -m 0666 "$1" c 10 229',
    'mount --bind "$1" /dev/fuse',
    "shift",
    `exec setpriv --reuid=${uid} --regid=${uid} --clear-groups -- "$@"`,
  ].join(" && ");
  const unshare = ["unshare", "--mount", "--propagation", "private", "--"];
  return [...unshare, "sh", "-c", script, "sh", node];
}
