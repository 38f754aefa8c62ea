import { type BytePath, displayPath, nameOf } from "../model/byte-path.ts";
import { readDirectory, throwUnlessErrno } from "../platform/native/index.ts";
import { removeTree } from "./remove-tree.ts";
import { withRoot } from "./scan/open-directory.ts";

/** Removes a folder with everything below; gives the absolute paths of what could not be removed. */
export function removeFolder(folder: BytePath): string[] {
  const parent = folder.slice(0, folder.lastIndexOf("/")) as BytePath;
  return withRoot(parent, (fd) =>
    removeTree(fd, nameOf(folder)).map(({ path }) => displayPath(`${parent}/${path}` as BytePath)),
  );
}

/** Removes everything in a folder, which itself stays. Idempotent; gives what could not be removed. */
export function removeBelow(folder: BytePath): string[] {
  try {
    return withRoot(folder, (fd) =>
      readDirectory(fd).flatMap(({ name }) =>
        removeTree(fd, name).map(({ path }) => displayPath(`${folder}/${path}` as BytePath)),
      ),
    );
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return [];
  }
}
