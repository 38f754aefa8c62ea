/**
 * A command line in front of another: an ordinary user, in a mount namespace of its own. The device of FUSE is open to
 * that user as it is on any installed system, through a node that is made at the given path because a container's own
 * is often root's alone; without a path there is no such device.
 */
export function asOrdinaryUser(uid: number, fuseNode: string | null): readonly string[] {
  const script = [
    ...(fuseNode === null ? [] : ['mknod -m 0666 "$1" c 10 229']),
    'mount --bind "$1" /dev/fuse',
    "shift",
    `exec setpriv --reuid=${uid} --regid=${uid} --clear-groups -- "$@"`,
  ].join(" && ");
  const unshare = ["unshare", "--mount", "--propagation", "private", "--"];
  return [...unshare, "sh", "-c", script, "sh", fuseNode ?? "/dev/null"];
}
