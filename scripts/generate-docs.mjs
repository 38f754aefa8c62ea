// Usage: generate-docs.mjs [--check] [FOLDER...] — writes the parts of the docs that are made from the code into the
// pages of this checkout, or of each FOLDER. With --check it changes nothing and fails when a page does not say what the
// code says. Needs a built dist/.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { undocumentedErrors } from "./docs/check-errors.mjs";
import { errorClasses } from "./docs/error-classes.mjs";
import { generatedParts } from "./docs/generated-parts.mjs";
import { manPage } from "./docs/man-page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const PART = /(<!-- generated: ([a-z ]+) -->\n)(.*?)(<!-- end of generated -->)/gs;

const isCheck = process.argv.includes("--check");
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const errors = errorClasses(root);
const parts = await generatedParts(errors, root);
const problems = [];
for (const folder of folders.length > 0 ? folders : [root]) await bringUpToDate(folder);
if (folders.length === 0) await renewManPage();
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

async function bringUpToDate(folder) {
  const tell = (file, problem) => problems.push(`${join(folder, file)}: ${problem}`);
  const unused = new Set(Object.keys(parts));
  for (const file of pagesOf(folder)) await renew(folder, file, unused, tell);
  for (const problem of undocumentedErrors(errors, folder)) tell("docs/errors.md", problem);
  for (const name of unused) tell("docs", `the part "${name}" stands in no page`);
}

async function renew(folder, file, unused, tell) {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  const wanted = text.replaceAll(PART, (_, head, name, _old, end) => {
    unused.delete(name);
    if (parts[name] === undefined) tell(file, `there is no part "${name}"`);
    return `${head}\n${parts[name] ?? ""}\n\n${end}`;
  });
  if (wanted === text) return;
  const style = await resolveConfig(join(root, file));
  const formatted = await format(wanted, { ...style, parser: "markdown" });
  if (formatted === text) return;
  if (isCheck) tell(file, "not what the code says; run npm run docs:generate");
  else writeFileSync(path, formatted);
}

async function renewManPage() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const path = join(root, "man/coffer.1");
  const wanted = await manPage(version);
  const found = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (found === wanted) return;
  if (isCheck) problems.push(`${path}: not what the code says; run npm run docs:generate`);
  else {
    mkdirSync(join(root, "man"), { recursive: true });
    writeFileSync(path, wanted);
  }
}

function pagesOf(folder) {
  const docs = readdirSync(join(folder, "docs"), { recursive: true });
  return ["README.md", ...docs.map((name) => join("docs", name))].filter((path) =>
    path.endsWith(".md"),
  );
}
