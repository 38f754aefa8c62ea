import { createHash } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { installedFile } from "./installed-file.ts";
import { installedIn, readablePackage } from "./package-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const built = new Map<string, Promise<string>>();

/**
 * Turns a TypeScript program of the tests into one file that plain Node runs at once, readable for
 * every user. Modules of `src/` stay what they are after an installation: files of `dist/`, or of the
 * installed package, which has the public ones only.
 */
export function buildProgram(path: string): Promise<string> {
  const known = built.get(path) ?? bundle(path);
  built.set(path, known);
  return known;
}

async function bundle(path: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    plugins: [keepOutside],
  });
  const text = outputFiles[0]?.contents ?? new Uint8Array();
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const target = join(folderOfRun(), `${basename(path, ".ts")}-${digest}.mjs`);
  if (!existsSync(target)) {
    // Another worker may build the same program; each file appears whole.
    writeFileSync(`${target}.${process.pid}`, text, { mode: 0o644 });
    renameSync(`${target}.${process.pid}`, target);
  }
  return target;
}

const keepOutside: Plugin = {
  name: "keep-outside",
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
      const full = join(resolveDir, path);
      const source = join(root, "src/");
      if (!full.startsWith(source)) return undefined;
      return { path: fileThatRuns(full.slice(source.length)), external: true };
    });
    esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData }) => {
      if (kind === "entry-point" || path.startsWith("node:") || pluginData === "seen") {
        return undefined;
      }
      const place = { kind, resolveDir: readablePackage, pluginData: "seen" };
      const found = await esbuild.resolve(path, place);
      return found.errors.length > 0
        ? { errors: found.errors }
        : { path: found.path, external: true };
    });
  },
};

function fileThatRuns(module: string): string {
  if (installedIn !== undefined) return installedFile(installedIn, module);
  return join(readablePackage, "dist", module.replace(/\.ts$/, ".js"));
}

function folderOfRun(): string {
  const folder = process.env["COFFERDAM_TEST_RUN"];
  if (folder === undefined) throw new Error("programs are built inside a test run only");
  return folder;
}
