import { format } from "prettier";
import { ASPECTS } from "./aspects.ts";
import { COLUMNS, type Column } from "./columns.ts";
import { BEYOND, LIMITS, type Limit, limitOf } from "./limits.ts";

const HEAD = `# Fidelity

What survives a commit and its undo, measured. One awkward tree goes through every strategy and mode: ordinary programs
edit it in the sandbox, the sandbox is committed, then rolled back. After the commit the real tree is compared with a
plain copy (\`cp -a\`) in which the same programs did the same; after the undo with the tree as it was. Compared are
type, content, link text, mode, owner, times to the nanosecond, extended attributes and access control lists, hard links
and holes, by \`find\`, \`sha256sum\`, \`getfattr\` and \`stat\`.

A tick means: no difference after the commit, and none after the undo. A number leads to a limit, which a script of
plain tools shows without this package. **The undo is exact in every cell**, whatever the limit of the commit; only
\`none\` has no undo, so its ticks are about the commit alone.

This page is written by \`npm run docs:fidelity\`; a test fails when it is not what was measured.
`;

/** The whole page, from the limits that the measurements are held against. */
export function renderPage(): Promise<string> {
  const tables = [
    ["As root", "root"],
    ["As an ordinary user", "nobody"],
  ] as const;
  const text = [
    HEAD,
    ...tables.map(([title, user]) => `## ${title}\n\n${table(user)}`),
    `## Limits\n\n${LIMITS.map((limit, at) => `${at + 1}. ${sentence(limit)}`).join("\n")}`,
    `## Beyond the table\n\n${BEYOND.map((limit) => `- ${sentence(limit)}`).join("\n")}`,
  ].join("\n\n");
  return format(text, { parser: "markdown", printWidth: 100, proseWrap: "always" });
}

function table(user: Column["user"]): string {
  const columns = COLUMNS.filter((column) => column.user === user);
  const rows = ASPECTS.filter(({ byRoot }) => user === "root" || byRoot !== true);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(["", ...columns.map(({ name }) => name)]),
    line(["---", ...columns.map(() => ":-:")]),
    ...rows.map(({ name }) => line([name, ...columns.map((column) => cell(column, name))])),
  ].join("\n");
}

function cell(column: Column, row: string): string {
  const limit = limitOf(column, row);
  return limit === undefined ? "✓" : `(${LIMITS.indexOf(limit) + 1})`;
}

function sentence({ text, script }: Pick<Limit, "script" | "text">): string {
  return `${text} ([${script}](../test/limits/${script}))`;
}
