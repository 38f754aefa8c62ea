import { readFile } from "node:fs/promises";
import { usageError } from "../usage-error.ts";

/**
 * The text of a file, or of the standard input for `-`.
 * @throws UsageError when the file cannot be read.
 */
export async function readInput(file: string): Promise<string> {
  if (file === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks).toString("utf8");
  }
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = "an error" } = error as NodeJS.ErrnoException;
    throw usageError(
      `${file} cannot be read: ${code}`,
      "Name a file, or - for the standard input.",
    );
  }
}
