import { AT } from "./constants.ts";
import { loadNative } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, nameText } from "./native-memory.ts";
import { close } from "./paths.ts";

const OPEN_TREE_CLONE = 1;
/** The source is given as a descriptor alone. */
const EMPTY_SOURCE = 4;

/**
 * Shows a symbolic link itself in the place of a file: whoever opens the file follows the link. `mount` cannot do that,
 * because it follows the link on its own.
 * @throws NativeError ENOSYS before Linux 5.2, ENOENT, EPERM.
 */
export function mountLink(link: ByteName, target: ByteName): void {
  const native = loadNative();
  const { calls, numbers, first, second } = native;
  const from = first.putName(link, "open_tree");
  const tree = calls.syscall(
    numbers.open_tree,
    AT.workingDirectory,
    from,
    OPEN_TREE_CLONE | AT.symlinkNoFollow,
    0,
    0,
  );
  if (tree < 0) throw new NativeError(native.errno(), "open_tree", nameText(link));
  try {
    const itself = first.putName("", "move_mount");
    const to = second.putName(target, "move_mount");
    if (calls.syscall(numbers.move_mount, tree, itself, AT.workingDirectory, to, EMPTY_SOURCE) < 0)
      throw new NativeError(native.errno(), "move_mount", nameText(target));
  } finally {
    close(tree);
  }
}
