import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildProgram } from "../support/program.ts";

/** What random edits may make; everything unless told. */
export interface EditLimits {
  /** Further names for files. */
  readonly hardLinks?: boolean;
  /** Symbolic links that lead to themselves. */
  readonly linkLoops?: boolean;
  /** Folders at paths where others were before. */
  readonly remadeFolders?: boolean;
}

/** A process that edits trees at random: equal seeds on equal trees give equal trees. */
export interface Editor extends AsyncDisposable {
  edit(root: string, seed: number, count: number, limits?: EditLimits): Promise<void>;
}

/** Starts the editing program; it stays for many requests. */
export async function startEditor(): Promise<Editor> {
  const program = new URL("./programs/edit-tree.ts", import.meta.url);
  const file = await buildProgram(fileURLToPath(program));
  const child = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "inherit"], cwd: "/" });
  const ended = once(child, "close");
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async edit(root, seed, count, limits = {}) {
      const everything = { hardLinks: true, linkLoops: true, remadeFolders: true };
      const request = { root, seed, count, ...everything, ...limits };
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { value: string };
      if (value !== "ok") throw new Error(`editing failed: ${value}`);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}
