import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What docs/errors.md does not say about the error classes, one line each. */
export function undocumentedErrors(classes, folder) {
  const page = readFileSync(join(folder, "docs/errors.md"), "utf8");
  const sections = new Map(
    page
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split("\n", 1)[0].trim(), section]),
  );
  const unknown = [...sections.keys()].filter((name) => !classes.some((one) => one.name === name));
  return [
    ...classes.flatMap((one) => gaps(one, sections.get(one.name))),
    ...unknown.map((name) => `there is no class ${name}`),
  ];
}

function gaps({ name, code, fields }, section) {
  if (section === undefined) return [`no section "### ${name}"`];
  const words = [code, ...fields.flatMap((field) => [field.name, ...field.choices])];
  return words
    .filter((word) => !section.includes(`\`${word}\``))
    .map((word) => `the section on ${name} does not name \`${word}\``);
}
