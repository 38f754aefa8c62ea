// Usage: generate-docs.mjs [--check] [FOLDER] — writes the parts of the docs that are made from the code into the pages
// of this checkout, or of FOLDER. With --check it changes nothing and fails when a page does not say what the code says. Needs a built dist/.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { undocumentedErrors } from "./docs/check-errors.mjs";
import { errorClasses } from "./docs/error-classes.mjs";
import { generatedParts } from "./docs/generated-parts.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const PART = /(<!-- generated: ([a-z ]+) -->\n)(.*?)(<!-- end of generated -->)/gs;

const isCheck = process.argv.includes("--check");
const folder = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? root;
const errors = errorClasses(root);
const parts = await generatedParts(errors);
const unused = new Set(Object.keys(parts));
const problems = [];
for (const file of pages()) await bringUpToDate(file);
problems.push(...undocumentedErrors(errors, folder));
for (const name of unused) problems.push(`the part "${name}" stands in no page`);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

async function bringUpToDate(file) {
  const text = readFileSync(file, "utf8");
  const wanted = text.replaceAll(PART, (_, head, name, _old, end) => {
    unused.delete(name);
    if (parts[name] === undefined) problems.push(`${show(file)}: there is no part "${name}"`);
    return `${head}\n${parts[name] ?? ""}\n\n${end}`;
  });
  if (wanted === text) return;
  const formatted = await format(wanted, { ...(await resolveConfig(file)), parser: "markdown" });
  if (formatted === text) return;
  if (!isCheck) writeFileSync(file, formatted);
  else problems.push(`${show(file)}: not what the code says; run npm run docs:generate`);
}

function pages() {
  const docs = readdirSync(join(folder, "docs"), { recursive: true }).map((name) =>
    join(folder, "docs", name),
  );
  return [join(folder, "README.md"), ...docs].filter((path) => path.endsWith(".md"));
}

function show(file) {
  return relative(folder, file);
}
