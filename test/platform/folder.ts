import { closeSync, mkdtempSync, openSync } from "node:fs";
import { onTestFinished } from "vitest";
import { type FileSystemKind, type FileSystemOptions, mountFileSystem } from "../support/loop.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { tempFolder } from "../support/temp.ts";

/** File systems whose answers differ and that every call has to work on. */
export const PLACES = ["ext4", "tmpfs"] as const;

/** An open folder of the running test. */
export interface Folder {
  readonly path: string;
  readonly fd: number;
}

/** Makes a folder for the running test, on the disk or in memory, and opens it. */
export function openFolder(place: (typeof PLACES)[number] = "ext4"): Folder {
  if (place === "ext4") return openPath(tempFolder());
  const path = mkdtempSync("/dev/shm/cofferdam-test-");
  onTestFinished(() => removeFolder(path));
  return openPath(path);
}

/** Makes a file system for the running test and opens its root. */
export function openFileSystem(kind: FileSystemKind, options: FileSystemOptions = {}): Folder {
  const fileSystem = mountFileSystem(kind, options);
  onTestFinished(() => fileSystem[Symbol.asyncDispose]());
  return openPath(fileSystem.mountPoint);
}

/** Opens a folder until the test has finished. */
export function openPath(path: string | Buffer): Folder {
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  return { path: path.toString("latin1"), fd };
}

/** The code of the error that the call throws; fails the test where it throws none. */
export function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string")
      return error.code;
    throw error;
  }
  throw new Error("the call succeeded");
}
