import { writeFile } from "node:fs/promises";
import type { StrategyHost } from "cofferdam";

/** Nanosecond times; no setuid, setgid and sticky bits in anything that is unpacked from here. */
const PACK = ["--create", "--format=posix", "--no-recursion", "--mode=ug-s,o-t", "--null"];
/** Folders get their times when everything is in them. */
const UNPACK = ["--extract", "--preserve-permissions", "--delay-directory-restore"];

/** Puts the named entries of a folder into an archive, links as links; the empty path is the folder itself. */
export async function pack(
  host: StrategyHost,
  folder: string,
  paths: readonly string[],
  archive: string,
  mode: "plain" | "exact" = "plain",
): Promise<void> {
  const list = `${archive}.list`;
  await writeFile(list, paths.map((path) => `./${path}\0`).join(""));
  const options = mode === "exact" ? PACK.filter((one) => !one.startsWith("--mode")) : PACK;
  await tar(host, [
    ...options,
    `--file=${archive}`,
    `--directory=${folder}`,
    `--files-from=${list}`,
  ]);
}

/** Puts everything in an archive into a folder. A file is replaced, never written into. */
export async function unpack(host: StrategyHost, archive: string, folder: string): Promise<void> {
  await tar(host, [...UNPACK, `--file=${archive}`, `--directory=${folder}`]);
}

async function tar(host: StrategyHost, args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await host.run("tar", args);
  if (exitCode !== 0) throw new Error(`tar failed: ${stderr.toString()}`);
}
