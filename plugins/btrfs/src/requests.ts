import { closeSync, constants, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { StrategyHost } from "cofferdam";

type Ioctl = StrategyHost["ioctl"];

/** Requests as `linux/btrfs.h` has them: the number, and where in the argument the name lies. */
const SNAPSHOT = { number: 0x5000_9417, nameAt: 56 } as const;
const REMOVAL = { number: 0x5000_940f, nameAt: 8 } as const;
const ARGUMENT_LENGTH = 4096;
const FLAGS_AT = 16;
const READ_ONLY = 2n;

/** Asks btrfs for a snapshot, which saves the start of a program. It is on disk then; false where that was refused. */
export function requestSnapshot(
  ioctl: Ioctl,
  source: string,
  target: string,
  kind: "frozen" | "writable",
): Promise<boolean> {
  return withFolder(source, (from) => {
    const argument = argumentOf(SNAPSHOT, target);
    argument.writeBigInt64LE(BigInt(from), 0);
    if (kind === "frozen") argument.writeBigUInt64LE(READ_ONLY, FLAGS_AT);
    return withFolder(dirname(target), (fd) => ioctl(fd, SNAPSHOT.number, argument));
  });
}

/** Asks btrfs to remove a subvolume with all files in it; false where that was refused. */
export function requestRemoval(ioctl: Ioctl, subvolume: string): Promise<boolean> {
  const argument = argumentOf(REMOVAL, subvolume);
  return withFolder(dirname(subvolume), (fd) => ioctl(fd, REMOVAL.number, argument));
}

function argumentOf({ nameAt }: { readonly nameAt: number }, path: string): Buffer {
  const argument = Buffer.alloc(ARGUMENT_LENGTH);
  argument.write(basename(path), nameAt);
  return argument;
}

async function withFolder<T>(path: string, work: (fd: number) => Promise<T>): Promise<T> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(fd);
  } finally {
    closeSync(fd);
  }
}
