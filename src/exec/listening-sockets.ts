import { lstatSync, readFileSync } from "node:fs";

const LISTENING = 0x10000;

/**
 * The paths of the sockets that somebody listens on. Through an overlay nobody could connect to them: they are put into
 * a view one by one.
 */
export function listeningSockets(): string[] {
  const lines = readTable().split("\n").slice(1);
  const found = lines.flatMap((line) => {
    const [, , , flags = "0", , , , ...path] = line.trim().split(/\s/);
    const name = path.join(" ");
    return (Number.parseInt(flags, 16) & LISTENING) !== 0 && name.startsWith("/") ? [name] : [];
  });
  return [...new Set(found)].filter(isSocket).toSorted();
}

function readTable(): string {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    // Some containers hide it; then a program in the view does without these sockets.
    return "";
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    // Gone, or not for us to see.
    return false;
  }
}
