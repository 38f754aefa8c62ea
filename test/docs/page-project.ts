import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandLine, linkPackage } from "../support/package-folder.ts";
import { checkout, type CodeBlock, type Page } from "./markdown.ts";

/** How one block of a page ended. */
export interface BlockResult {
  /** Page and line of the block. */
  readonly place: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What the page shows as the output of the block; null when it shows nothing. */
  readonly shown: string | null;
}

/** What a reader can start as it stands: Node 20 starts no TypeScript. */
const RUNNABLE = new Set(["js", "sh"]);

/** Whether a page has something to run. */
export function isRunnable(page: Page): boolean {
  return page.blocks.some(({ marks }) => marks.has("run"));
}

/**
 * A project in a folder, made of the blocks of one page as a reader would make it: blocks marked `file=NAME` are files,
 * blocks marked `run` are run in their order. `cofferdam` and `coffer` are those that the tests use.
 */
export class PageProject {
  readonly #page: Page;
  readonly #folder: string;

  constructor(page: Page, folder: string) {
    this.#page = page;
    this.#folder = folder;
    const manifest = { name: "reader", private: true, type: "module" };
    this.#write("package.json", JSON.stringify(manifest));
    this.#write(
      "bin/coffer",
      `#!/bin/sh\nexec "${process.execPath}" "${commandLine()}" "$@"\n`,
      0o755,
    );
    linkPackage(folder);
    for (const name of ["home", "tmp"]) mkdirSync(join(folder, name));
    for (const block of page.blocks) {
      const file = block.marks.get("file") ?? (isScript(block) ? scriptOf(block) : undefined);
      if (file !== undefined) this.#write(file, block.text);
    }
  }

  /** Checks the types of all TypeScript of the page; gives what the compiler says. */
  compile(): string {
    if (!this.#page.blocks.some(({ language }) => language === "ts")) return "";
    this.#write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    const compiler = join(checkout, "node_modules/typescript/bin/tsc");
    return this.#spawn(process.execPath, [compiler, "-p", "."]).stdout;
  }

  /** Runs the blocks, one after the other. */
  run(): BlockResult[] {
    const { blocks, name } = this.#page;
    return blocks.flatMap((block, index) => {
      if (!block.marks.has("run")) return [];
      const place = `${name}:${block.line}`;
      if (!RUNNABLE.has(block.language))
        throw new Error(`${place}: ${block.language} cannot be run`);
      const next = blocks[index + 1];
      const shown = next?.language === "text" && next.marks.has("output") ? next.text : null;
      return [{ place, ...this.#runBlock(block), shown }];
    });
  }

  #runBlock(block: CodeBlock): Pick<BlockResult, "code" | "stdout" | "stderr"> {
    if (!isScript(block)) return this.#spawn("bash", ["--norc", "-eu", "-c", block.text]);
    return this.#spawn(process.execPath, [block.marks.get("file") ?? scriptOf(block)]);
  }

  #spawn(
    command: string,
    args: readonly string[],
  ): Pick<BlockResult, "code" | "stdout" | "stderr"> {
    const env = {
      PATH: `${join(this.#folder, "bin")}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: join(this.#folder, "home"),
      TMPDIR: join(this.#folder, "tmp"),
    };
    const done = spawnSync(command, args, { cwd: this.#folder, env, encoding: "utf8" });
    if (done.error) throw done.error;
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
  }

  #write(name: string, text: string, mode = 0o644): void {
    const file = join(this.#folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
  }
}

/** Whether output fits what a page shows: line by line, where `…` stands for anything, also for whole lines. */
export function fits(output: string, shown: string): boolean {
  const pattern = shown
    .trimEnd()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join("[^]*?");
  return new RegExp(`^${pattern}$`).test(output.trimEnd());
}

function isScript({ language, marks }: CodeBlock): boolean {
  return marks.has("run") && language !== "sh";
}

function scriptOf({ line }: CodeBlock): string {
  return `block-${line}.mjs`;
}

const compilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ module: "NodeNext", target: "ES2022", lib: ["ES2023", "ESNext.Disposable"] },
  ...{ allowImportingTsExtensions: true, noEmit: true, skipLibCheck: true },
  ...{ types: ["node"], typeRoots: [join(checkout, "node_modules/@types")] },
};
