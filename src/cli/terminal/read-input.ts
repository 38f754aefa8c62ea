import { readFile } from "node:fs/promises";
import { usageError } from "../usage-error.ts";

/**
 * The text of a file, or of the standard input for `-`.
 * @throws UsageError when the file cannot be read, or has bytes that are no text.
 */
export async function readInput(file: string): Promise<string> {
  if (file === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return textOf(Buffer.concat(chunks), "The standard input");
  }
  return textOf(await bytesOf(file), file);
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code = "an error" } = error as NodeJS.ErrnoException;
    throw usageError(
      `${file} cannot be read: ${code}`,
      "Name a file, or - for the standard input.",
    );
  }
}

/** Other bytes would be lost without a word. */
function textOf(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError(
      `${name} is not UTF-8`,
      "Convert it (`iconv -t UTF-8`), and write other bytes in hexadecimal digits (x'00ff').",
    );
  }
}
