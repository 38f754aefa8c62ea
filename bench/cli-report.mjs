/** The numbers of commands as a section of the page. */
export function renderCommands({ rounds, changes, sources }, rows) {
  return [
    "## Commands",
    "",
    `Made by \`npm run bench:cli\`: medians of ${rounds} rounds, all in one run, in turn. Milliseconds; processor time,`,
    "which other work on the machine hardly changes, is the mean of all programs together.",
    "",
    `### Looking at a plan with ${changes} changes`,
    "",
    ...table(rows.looks),
    "",
    "### `coffer run --discard -- true`",
    "",
    "By hand is the same set-up by a shell: `unshare`, the mounts, `true`, and everything taken away.",
    "",
    ...table(rows.runs),
    "",
    `Between the sizes: ${rows.spread.toFixed(2)} times, at most 1.2.`,
    "",
    `### A build of ${sources} C files`,
    "",
    ...(rows.builds.length > 0 ? table(rows.builds) : ["There is no `make` and `gcc` here."]),
    "",
  ].join("\n");
}

function table(rows) {
  const names = Object.keys(rows[0]);
  return [
    `| ${names.join(" | ")} |`,
    `| ${names.map(() => "---").join(" | ")} |`,
    ...rows.map((row) => `| ${names.map((name) => row[name]).join(" | ")} |`),
  ];
}
