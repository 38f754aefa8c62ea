// Packs the package as it would be published, lints the result, installs it into an empty project
// and uses it there: from JavaScript, from TypeScript, from the command line, and for the tests that
// need only what is public. A part of them fits into every check; `--whole` runs them all.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What users can do, once in each strategy. */
const SAMPLE = [
  "test/behaviour/",
  "test/cli/",
  "test/conformance/copy-on-write",
  "test/conformance/filesystem-copy",
  "test/conformance/none",
  "test/conformance/overlay-kernel",
  "test/manager/plan/",
  "test/manager/public-api",
  "test/package/",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules/.bin");
const { version, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "cofferdam-pack-"));
try {
  const tarball = pack();
  checkContents(tarball);
  run(root, join(bin, "publint"), ["run", tarball, "--strict"]);
  run(root, join(bin, "attw"), [tarball, "--profile", "esm-only"]);
  const project = install(tarball);
  useFromJavaScript(project);
  useFromTypeScript(project);
  useFromCommandLine(project);
  runTests(project, process.argv.includes("--whole") ? [] : SAMPLE);
  console.log("The packed package works.");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack() {
  const args = ["pack", "--json", "--pack-destination", folder];
  const [packed] = JSON.parse(capture(root, "npm", args));
  return join(folder, packed.filename);
}

function checkContents(tarball) {
  const names = capture(root, "tar", ["-tzf", tarball]).trim().split("\n");
  const wanted = [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "package.json",
    "dist/index.d.ts",
    "examples/content-store/README.md",
    "examples/content-store/strategy.ts",
    "man/coffer.1",
  ];
  const missing = wanted.filter((name) => !names.includes(`package/${name}`));
  const usual = /^package\/(dist\/.*\.(c?js|d\.ts)(\.map)?|[A-Z]+(\.md)?|package\.json)$/;
  const strange = names.filter(
    (name) => !usual.test(name) && !wanted.includes(name.slice("package/".length)),
  );
  if (missing.length > 0) throw new Error(`not in the package: ${missing.join(", ")}`);
  if (strange.length > 0) throw new Error(`should not be packed: ${strange.join(", ")}`);
}

function install(tarball) {
  const project = join(folder, "project");
  mkdirSync(project);
  const manifest = { name: "consumer", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  // As users of databases do: the client is theirs to choose.
  const client = `pg@${devDependencies.pg}`;
  run(project, "npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball, client]);
  return project;
}

function useFromJavaScript(project) {
  const script = `
    const names = [
      ...Object.keys(await import("cofferdam")),
      ...Object.keys(await import("cofferdam/testing")),
    ];
    if (!names.includes("SandboxError")) throw new Error("exports: " + names.join(", "));
  `;
  run(project, process.execPath, ["--input-type=module", "-e", script]);
}

function useFromTypeScript(project) {
  const source = `
    import { SandboxError } from "cofferdam";
    import * as testing from "cofferdam/testing";
    export function codeOf(error: unknown): string | undefined {
      return error instanceof SandboxError ? error.code : undefined;
    }
    export const names: string[] = Object.keys(testing);
  `;
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: "NodeNext", target: "ES2022" },
    ...{ lib: ["ES2023", "ESNext.Disposable"], exactOptionalPropertyTypes: true },
    ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
  };
  writeFileSync(join(project, "consumer.ts"), source);
  const config = { compilerOptions, files: ["consumer.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  run(project, join(bin, "tsc"), ["-p", "."]);
}

function useFromCommandLine(project) {
  const told = capture(project, "npx", ["--no-install", "coffer", "--version"]).trim();
  if (told !== version) throw new Error(`coffer --version says ${told}, not ${version}`);
  run(project, "npx", ["--no-install", "coffer", "strategies"]);
}

function runTests(project, names) {
  // Some tests start programs as other users, who have to get through.
  chmodSync(folder, 0o755);
  const env = { ...process.env, COFFERDAM_PACKED: project };
  const args = ["run", "--project", "packed", ...names];
  execFileSync(join(bin, "vitest"), args, { cwd: root, stdio: "inherit", env });
}

function run(cwd, command, args) {
  execFileSync(command, args, { cwd, stdio: "inherit" });
}

function capture(cwd, command, args) {
  return execFileSync(command, args, { cwd, encoding: "utf8" });
}
