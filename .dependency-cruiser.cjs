/** The direction of dependencies: see docs and the picture of the layers in CONTRIBUTING.md. */

const DOMAIN = "^src/(model|errors|contract)/";
/** The folders that may touch the disk and start programs. */
const WITH_DISK = "platform|tree|journal|locks|config|strategies|exec";
/** The folders whose tests may look inside their own module. */
const WITH_INNER_TESTS =
  "model|errors|contract|platform|tree|journal|locks|registry|config|strategies|exec";

/** Packages whose code is in the published files: see `scripts/bundle.mjs`. */
const JOINED = "(^|/)node_modules/commander/";

function forbid(name, comment, from, to) {
  return { name, comment, severity: "error", from, to };
}

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    forbid("no-cycles", "Modules that need each other are one module.", {}, { circular: true }),
    forbid(
      "resolvable",
      "What is imported exists and is a dependency of the package.",
      { path: "^src/" },
      { couldNotResolve: true },
    ),
    forbid(
      "no-development-dependencies",
      "What is published needs only what is installed with it, or beside it by choice.",
      { path: "^src/", pathNot: "^src/testing/" },
      {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["npm-peer"],
        pathNot: JOINED,
      },
    ),
    forbid(
      "model-and-errors-stand-alone",
      "The domain depends on nothing: model and errors import only each other.",
      { path: "^src/(model|errors)/" },
      { pathNot: "^src/(model|errors)/" },
    ),
    forbid(
      "contract-only-domain",
      "The contract imports model and errors, and what only computes.",
      { path: "^src/contract/" },
      { pathNot: `${DOMAIN}|^(node:)?crypto$|^node_modules/diff/` },
    ),
    forbid(
      "platform-and-tree-below",
      "The tree engine and the platform know neither strategies nor what stands above them.",
      { path: "^src/(platform|tree)/" },
      { path: "^src/(manager|strategies|registry|config|exec|cli|testing)/|^src/index\\.ts$" },
    ),
    forbid(
      "platform-lowest",
      "The platform knows neither the tree engine nor the records.",
      { path: "^src/platform/" },
      { path: "^src/(tree|journal|locks)/" },
    ),
    forbid(
      "strategies-below-manager",
      "A strategy does not know who calls it.",
      { path: "^src/strategies/" },
      { path: "^src/(manager|cli|testing|registry|config)/|^src/index\\.ts$" },
    ),
    forbid(
      "strategies-apart",
      "A strategy does not look into another one; copy/ is what the copying ones share.",
      { path: "^src/strategies/([^/]+)/" },
      { path: "^src/strategies/[^/]+/", pathNot: "^src/strategies/($1|copy)/" },
    ),
    forbid(
      "manager-knows-no-strategy",
      "The manager asks for capabilities, never for a strategy.",
      { path: "^src/manager/" },
      { path: "^src/(strategies|cli|testing)/" },
    ),
    forbid(
      "checkpoints-without-bytes",
      "Identity, order and retention of checkpoints are one place; the bytes are the strategies' own.",
      { path: "^src/manager/checkpoints/" },
      {
        path: "^src/(platform|tree|strategies)/|^(node:)?(fs|fs/promises|child_process|worker_threads)$",
      },
    ),
    forbid(
      "records-below-manager",
      "Journal, locks, registry and config do not know the manager or the edges.",
      { path: "^src/(journal|locks|registry|config|exec)/" },
      { path: "^src/(manager|cli|testing)/|^src/index\\.ts$" },
    ),
    forbid(
      "edges-use-the-public-api",
      "The command line and the conformance kit see what every user sees; light.ts is a part of it.",
      { path: "^src/(cli|mcp|review|adapters|testing)/([^/]+)" },
      { path: "^src/", pathNot: "^src/((index|light)\\.ts$|$1/)" },
    ),
    forbid(
      "disk-and-programs",
      "Only the folders named here touch the disk or start programs.",
      { path: "^src/", pathNot: `^src/(${WITH_DISK}|testing|cli/(demo|scaffold|start|terminal))/` },
      { path: "^(node:)?(fs|fs/promises|child_process)$" },
    ),
    forbid(
      "behaviour-through-the-public-api",
      "Tests of behaviour use public calls only.",
      {
        path: "^test/",
        pathNot: `^test/(${WITH_INNER_TESTS}|support|setup|quality|support-tests|fixtures)/`,
      },
      { path: "^src/", pathNot: "^src/(index\\.ts$|testing/)" },
    ),
    forbid(
      "inner-tests-of-their-own-module",
      "Tests that look inside look into their own module.",
      { path: `^test/(${WITH_INNER_TESTS})/`, pathNot: "^test/(registry|strategies)/" },
      { path: "^src/", pathNot: `^src/($1|testing)/|^src/index\\.ts$|${DOMAIN}` },
    ),
    forbid(
      "tests-of-strategies",
      "A file strategy is the tree engine put to use; its tests may use both.",
      { path: "^test/strategies/" },
      { path: "^src/", pathNot: `^src/(strategies|tree|testing)/|^src/index\\.ts$|${DOMAIN}` },
    ),
    forbid(
      "registry-is-built-from-config",
      "The registry is filled from the configuration and the built-in strategies.",
      { path: "^test/registry/" },
      {
        path: "^src/",
        pathNot: `^src/(registry|config|strategies|testing)/|^src/index\\.ts$|${DOMAIN}`,
      },
    ),
    forbid(
      "fixtures-are-plug-ins",
      "Strategies made for tests use what a plug-in gets.",
      { path: "^test/fixtures/" },
      { path: "^src/", pathNot: `^src/platform/|^src/index\\.ts$|${DOMAIN}` },
    ),
    forbid(
      "support-imports-nothing-of-ours",
      "What judges the code is made without the code.",
      { path: "^test/(support|setup)/" },
      { path: "^src/" },
    ),
    forbid(
      "plugins-use-the-public-api",
      "A plug-in has what every author of one has: the package, and itself.",
      { path: "^plugins/([^/]+)/src/" },
      { path: "^(src|test|bench|scripts|examples)/|^plugins/", pathNot: "^plugins/$1/src/" },
    ),
    forbid(
      "sources-without-tests",
      "What is published does not import tests.",
      { path: "^src/" },
      { path: "^(test|bench|scripts|examples|plugins)/" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|build|coverage)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node"] },
  },
};
