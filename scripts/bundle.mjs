// Joins the modules that tsc wrote into few files: reading two hundred small ones took longer than what a command does.
// They are CommonJS, the only kind whose compiled form Node 20 lets a program keep. Each module keeps a file of its own in
// dist/, which only names what it exports, so that worker threads, child processes and tests find it where its source
// is, and there is one copy of everything in a process.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { rollup } from "rollup";

/**
 * The files that modules are joined in, each with the modules it is made for and all that they import, unless an earlier
 * file has it: so a file needs earlier ones only. Whoever needs a module needs nearly all of its file.
 */
const CHUNKS = {
  "command-line": ["cli/program"],
  base: ["tree/threads/worker", "journal/record-file"],
  "sqlite-process": ["strategies/transaction_rollback/sqlite/worker"],
  engine: ["light"],
  commands: /^cli\/commands\//,
  overlay: ["strategies/overlay/strategy"],
  library: ["index"],
  testing: ["testing/index"],
  rest: /./,
};
/**
 * What is run, not imported, does something as soon as it is loaded, and what is loaded before anything else: nothing
 * else is in its file.
 */
const ALONE = new Set([
  "cli/start/compiled-code",
  "cli/main",
  "exec/show-link",
  "strategies/transaction_rollback/sqlite/worker",
  "testing/remote-program",
  "tree/threads/worker",
]);

/**
 * Packages that are joined with files of ours, whose compiled form is kept: to find and to compile the files of a package
 * took longer than all that the command line does. Their licences come along.
 */
const JOINED = { commander: "command-line" };

/** Parts of Node that most commands do without, loaded when one of their functions is first called. */
const LATE = ["node:fs/promises"];

/** What tsc writes for `using` asks for `this`. */
const HARMLESS = new Set(["THIS_IS_UNDEFINED"]);

/** What tsc puts into every module with a `using`; once is enough. */
const DISPOSAL = /^var __addDisposableResource = [^]*?^\}\)\(typeof SuppressedError[^]*?^\}\);$/m;
const DISPOSAL_ID = "\0disposal";

/** How the names of packages that are joined begin. */
const JOINED_ID = "\0package:";
/** How the names of what is loaded late begin. */
const LATE_ID = "\0late:";
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Imports what is not ours. In a file of its own, because code that V8 compiled earlier has no `import()` any more:
 * see src/cli/start/compiled-code.ts.
 */
const IMPORT = "chunks/import.cjs";
const IMPORT_TEXT = "exports.importModule = (name) => import(name);\n";

/** How a module takes something from a file that is CommonJS. */
const REQUIRE = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
`;

/** All that is left of a module of types. */
const ONLY_TYPES = /^export \{\};\s*(\/\/#.*)?$/;

/** Writes the modules below `from` to `to`, and gives the names of all files that belong there. */
export async function bundle(from, to) {
  const names = readdirSync(from, { recursive: true }).filter((name) => name.endsWith(".js"));
  const modules = names
    .map((name) => name.slice(0, -".js".length))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const fileOf = (name) => join(from, `${name}.js`);
  const nameOf = (id) => relative(from, id).slice(0, -".js".length);
  const unknown = [...ALONE, ...Object.values(CHUNKS).flat()].filter(
    (name) => typeof name === "string" && !modules.includes(name),
  );
  if (unknown.length > 0) throw new Error(`no module is named ${unknown.join(", ")}`);
  const [empty, full] = partition(modules, (name) =>
    ONLY_TYPES.test(readFileSync(fileOf(name), "utf8")),
  );
  const built = await rollup({
    input: Object.fromEntries(full.map((name) => [name, fileOf(name)])),
    external: (source) =>
      !/^[.\0]/.test(source) &&
      !source.startsWith(from) &&
      !Object.hasOwn(JOINED, source) &&
      !LATE.includes(source),
    preserveEntrySignatures: "strict",
    treeshake: false,
    plugins: [joinPackages(), loadLate(), keepPlaces(from, to), disposeOnce(nameOf), shorten()],
    onLog(_level, { code, message }) {
      if (!HARMLESS.has(code)) throw new Error(message);
    },
  });
  let chunkOf;
  const lazy = new Set();
  const { output } = await built.generate({
    format: "cjs",
    dir: to,
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name].cjs",
    hoistTransitiveImports: false,
    exports: "named",
    esModule: false,
    externalLiveBindings: false,
    freeze: false,
    manualChunks(id, graph) {
      const info = graph.getModuleInfo(id);
      for (const one of info.dynamicallyImportedIds) lazy.add(nameOf(one));
      chunkOf ??= assign(full, (name) =>
        graph
          .getModuleInfo(fileOf(name))
          .importedIds.filter((one) => one.startsWith(from))
          .map(nameOf),
      );
      if (id === DISPOSAL_ID || id.startsWith(LATE_ID)) return "base";
      return JOINED[packageOf(id)] ?? chunkOf.get(nameOf(id));
    },
  });
  await built.close();
  const files = new Map(empty.map((name) => [`${name}.js`, "export {};\n"]));
  files.set(IMPORT, IMPORT_TEXT);
  const [entries, joined] = partition(output, ({ isEntry }) => isEntry);
  for (const { fileName, code, source } of joined) files.set(fileName, code ?? source);
  for (const { name, fileName, code, map, exports, modules: own } of entries) {
    const isAlone = Object.keys(own).length > 0;
    files.set(`${name}.js`, isAlone ? frontOf(name, code, exports) : exportsOf(name, code));
    if (isAlone || lazy.has(name)) files.set(fileName, code);
    if (isAlone) files.set(`${fileName}.map`, map.toString());
    else files.delete(`${fileName}.map`);
  }
  for (const [name, text] of files) writeIfNew(join(to, name), marked(name, text));
  return [...files.keys()];
}

/** A module for code that is joined with nothing: it runs it, and has its names. */
function frontOf(name, code, exports) {
  const [first] = /^(?:#!.*\n)?/.exec(code);
  const names = exports.length > 0 ? `export const { ${exports.join(", ")} } = ` : "";
  return `${first}${REQUIRE}${names}require(${JSON.stringify(`./${basename(name)}.cjs`)});\n`;
}

/** A module that has the names of what is joined elsewhere. */
function exportsOf(name, code) {
  const files = new Map();
  const names = new Map();
  for (const line of code.split("\n")) {
    const [, as, path] = /^(?:var (\S+) = )?require\('(\S+)'\);$/.exec(line) ?? [];
    const [, own, from, theirs] = /^exports\.([\w$]+) = ([\w$]+)\.([\w$]+);$/.exec(line) ?? [];
    if (as !== undefined) files.set(as, path);
    else if (own !== undefined) names.set(own, { from, theirs });
    else if (path === undefined && !/^('use strict';|\/\/#.*)?$/.test(line))
      throw new Error(`${name} has code of its own: ${line}`);
  }
  const lines = [...files].map(([file, path]) => {
    const taken = [...names].filter(([, { from }]) => from === file);
    const list = taken.map(([own, { theirs }]) => (own === theirs ? own : `${theirs}: ${own}`));
    return `export const { ${list.join(", ")} } = require(${JSON.stringify(path)});\n`;
  });
  return `${REQUIRE}${lines.join("")}`;
}

/** Tells one build of a file from another, whoever keeps its compiled form: see src/cli/start/compiled-code.ts. */
function marked(name, text) {
  if (!/^chunks\/.*\.cjs$/.test(name)) return text;
  const build = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return text.replace(/\n(\/\/# sourceMappingURL=\S+\s*)$/, `\n//# build=${build}\n$1`);
}

function partition(names, isFirst) {
  return [names.filter(isFirst), names.filter((name) => !isFirst(name))];
}

/** The file that each module is joined in, by name. */
function assign(modules, importsOf) {
  const chunkOf = new Map();
  for (const [chunk, wanted] of Object.entries(CHUNKS)) {
    const first = Array.isArray(wanted) ? wanted : modules.filter((name) => wanted.test(name));
    const reached = new Set(first);
    for (const name of reached) {
      for (const imported of importsOf(name)) reached.add(imported);
      if (!ALONE.has(name) && !chunkOf.has(name)) chunkOf.set(name, chunk);
    }
  }
  return chunkOf;
}

/** Makes one module of each package that is joined. */
function joinPackages() {
  return {
    name: "join-packages",
    resolveId: (source) => (Object.hasOwn(JOINED, source) ? `${JOINED_ID}${source}` : null),
    async load(id) {
      const name = packageOf(id);
      if (name === null) return null;
      const { outputFiles } = await build({
        stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: ROOT },
        bundle: true,
        write: false,
        format: "esm",
        platform: "node",
        target: "node20",
      });
      return outputFiles[0].text;
    },
  };
}

/** The package that is joined under this name; null for what is no package. */
function packageOf(id) {
  return id.startsWith(JOINED_ID) ? id.slice(JOINED_ID.length) : null;
}

/** Makes a module of functions that load what they are of. */
function loadLate() {
  return {
    name: "load-late",
    resolveId: (source) => (LATE.includes(source) ? `${LATE_ID}${source}` : null),
    async load(id) {
      if (!id.startsWith(LATE_ID)) return null;
      const name = id.slice(LATE_ID.length);
      const functions = Object.entries(await import(name)).filter(
        ([key, value]) => key !== "default" && typeof value === "function",
      );
      const lines = functions.map(
        ([key]) =>
          `export const ${key} = (...args) => require(${JSON.stringify(name)}).${key}(...args);`,
      );
      return lines.join("\n");
    },
  };
}

/** What has to stand in every copy of the packages among these modules. */
function licencesOf(ids) {
  const names = ids.map(packageOf).filter((name) => name !== null);
  const texts = names.map((name) =>
    readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8").trim(),
  );
  return texts.map((text, at) => `/*! ${names[at]}\n\n${text}\n*/`).join("\n");
}

/** In `base`, which what every call loads does without. Lines stay where they are, for the map. */
function disposeOnce(nameOf) {
  let text;
  return {
    name: "dispose-once",
    resolveId: (source) => (source === DISPOSAL_ID ? source : null),
    load: (id) => (id === DISPOSAL_ID ? `export ${text.replace("\nvar ", "\nexport var ")}` : null),
    transform(code, id) {
      if (id === DISPOSAL_ID || CHUNKS["command-line"].includes(nameOf(id))) return null;
      const found = DISPOSAL.exec(code);
      if (found === null) return null;
      [text] = found;
      const names = "{ __addDisposableResource, __disposeResources }";
      const once = `import ${names} from ${JSON.stringify(DISPOSAL_ID)};`;
      return {
        code: code.replace(text, once + "\n".repeat(text.split("\n").length - 1)),
        map: null,
      };
    },
  };
}

/**
 * Comments and blanks cost time whenever a command starts, and one letter beyond ASCII doubles the memory of its file.
 * Names stay, for whoever reads the trace of an error.
 */
function shorten() {
  return {
    name: "shorten",
    renderChunk: (code, { modules }) =>
      Object.keys(modules).length === 0
        ? null
        : transform(code, {
            target: "node20",
            legalComments: "none",
            minifyWhitespace: true,
            minifySyntax: true,
            // Node shows the whole line of an error that nobody caught.
            lineLimit: 160,
            sourcemap: "external",
            banner: licencesOf(Object.keys(modules)),
          }),
  };
}

/** Modules go on finding the files beside their own by `import.meta.url`, and lines are told as those of the sources. */
function keepPlaces(from, to) {
  return {
    name: "keep-places",
    load(id) {
      if (!id.startsWith(from)) return null;
      return { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") };
    },
    renderDynamicImport({ chunk, targetModuleId }) {
      if (targetModuleId?.startsWith(from)) return null;
      const path = relative(dirname(chunk.fileName), IMPORT);
      const file = path.startsWith(".") ? path : `./${path}`;
      return { left: `require(${JSON.stringify(file)}).importModule(`, right: ")" };
    },
    resolveImportMeta(property, { chunkId, moduleId }) {
      if (property !== "url") return null;
      const own = relative(dirname(join(to, chunkId)), join(to, relative(from, moduleId)));
      const file = `require("node:url").pathToFileURL(__filename)`;
      return `new URL(${JSON.stringify(own)}, ${file}).href`;
    },
  };
}

/** Another process may be reading what has not changed. */
function writeIfNew(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
