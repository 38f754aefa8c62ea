import { openSync, readSync, writeSync } from "node:fs";
import { flock, type LockKind } from "../../../../src/platform/native/index.ts";

const [path = "", kind = "", mode] = process.argv.slice(2);
const fd = openSync(path, "r");
writeSync(2, "asking\n");
if (flock(fd, kind as LockKind, mode !== "wait")) writeSync(1, "locked\n");
readSync(0, Buffer.alloc(1));
