import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { outputOf, runProgram } from "./run-program.ts";

/** One entry of a sample: content of a file, or something else than a plain file of mode 0644. */
export type SampleEntry =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mode: number }
  | { readonly directory: true; readonly mode?: number }
  | { readonly link: string }
  | { readonly fifo: true };

/** A small tree: relative paths and what stands there. Folders on the way need no entry of their own. */
export type SampleTree = Readonly<Record<string, SampleEntry>>;

/** All byte values twice, so that neither text conversion nor a zero byte goes unnoticed. */
export const ALL_BYTES: Uint8Array = Uint8Array.from({ length: 512 }, (_, at) => at % 256);

/** One of each ordinary kind: what most checks begin with. */
export const SAMPLE_TREE: SampleTree = {
  "a.txt": "alpha\nbeta\ngamma\n",
  "bin/tool": { content: "#!/bin/sh\nexit 0\n", mode: 0o755 },
  "broken-link": { link: "nowhere" },
  "data.bin": ALL_BYTES,
  "deep/er/leaf.txt": "leaf\n",
  "docs/empty": { directory: true },
  "docs/guide.md": "# Guide\n",
  "docs/other.md": "# Other\n",
  link: { link: "a.txt" },
  "link-to-docs": { link: "docs" },
  private: { content: "for the owner\n", mode: 0o600 },
  zero: "",
};

/** Every entry of a sample has this time, long ago and with all nine digits, so that a touched one stands out. */
const SAMPLE_TIME = "@981173106.123456789";

/** Puts a sample into an existing folder, whose own time is set too. */
export async function plantTree(folder: string, tree: SampleTree): Promise<void> {
  for (const [path, entry] of Object.entries(tree)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    await plantEntry(target, entry);
  }
  const touch = ["-depth", "-exec", "touch", "-h", "-d", SAMPLE_TIME, "{}", "+"];
  outputOf("touch", await runProgram(folder, "find", [".", ...touch]));
}

async function plantEntry(target: string, entry: SampleEntry): Promise<void> {
  if (typeof entry === "string" || entry instanceof Uint8Array) {
    await plantFile(target, entry, 0o644);
  } else if ("content" in entry) {
    await plantFile(target, entry.content, entry.mode);
  } else if ("link" in entry) {
    await symlink(entry.link, target);
  } else if ("fifo" in entry) {
    outputOf("mkfifo", await runProgram(dirname(target), "mkfifo", ["-m", "0644", "--", target]));
  } else {
    await mkdir(target, { recursive: true });
    await chmod(target, entry.mode ?? 0o755);
  }
}

async function plantFile(
  target: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  await writeFile(target, content);
  // Past the umask of whoever runs the kit.
  await chmod(target, mode);
}
