import { planTargets } from "./plans.mjs";

/** The numbers as a page: ratios within one run first, because seconds mean little on another machine. */
export function renderReport(report, times) {
  const { sizes, bulk, machine } = report;
  const [smallest, largest] = [sizes[0], sizes.at(-1)];
  const lines = [
    "# Benchmarks",
    "",
    `Made by \`npm run bench\`: medians of ${report.rounds} rounds on ${machine.cpus} cores, ` +
      `${machine.memoryGiB} GiB, kernel ${machine.kernel}, Node ${machine.node}. ` +
      "All numbers of a table come from one run. The raw times are in [benchmarks.json](benchmarks.json).",
    "",
    "## Targets",
    "",
    "| what | measured | target | met |",
    "| --- | --- | --- | --- |",
    ...targets(times, smallest, largest, bulk).map(targetRow),
    ...planTargets(report.plans).map(targetRow),
    "",
    "## Creating a workspace",
    "",
    table(times, "create", sizes, [
      "cp -a",
      "cp -a --reflink=auto",
      "rsync -a",
      "git worktree add",
      "overlay",
      "copy_on_write",
      "filesystem_copy",
    ]),
    "",
    "The same for the overlay alone, trees of all sizes in turn: the table above measures each size after its copies",
    "were written, and a disk that has just taken a hundred thousand files syncs more slowly for everybody.",
    "",
    table(times, "create in turn", sizes, ["overlay"]),
    "",
    ...["diff", "commit", "undo", "discard", "checkpoint"].flatMap((action) => [
      `## ${action[0].toUpperCase()}${action.slice(1)} with 20 changes`,
      "",
      table(times, action, sizes, ["overlay", "copy_on_write", "filesystem_copy"]),
      "",
    ]),
    `## Durable commit of ${bulk} modified files`,
    "",
    "| subject | commit | undo | clean-up | commit against `cp -a` and `sync` |",
    "| --- | --- | --- | --- | --- |",
    ...["cp -a and sync", "overlay", "copy_on_write", "filesystem_copy"].map((subject) => {
      const commit = times.get(subject, "bulk commit", bulk);
      const base = times.get("cp -a and sync", "bulk commit", bulk);
      const cells = ["bulk commit", "bulk undo", "bulk clean-up"].map((action) =>
        milliseconds(times.get(subject, action, bulk)),
      );
      return `| ${subject} | ${cells.join(" | ")} | ${ratio(commit, base)} |`;
    }),
    "",
    "## Memory",
    "",
    "A whole life (create, edit, diff, commit, undo, clean up) over 100,000 files and one sparse file of 4 GiB,",
    "with the heap limited to 256 MiB:",
    "",
    ...report.memory.map(({ strategy, passed, peakMiB }) =>
      passed ? `- ${strategy}: peak ${peakMiB} MiB` : `- ${strategy}: failed`,
    ),
    "",
    "## Finding a strategy by name",
    "",
    "| registered | name | microseconds |",
    "| --- | --- | --- |",
    ...report.resolution.map((row) => `| ${row.registered} | ${row.name} | ${row.microseconds} |`),
    "",
  ];
  return lines.join("\n");
}

function targets(times, smallest, largest, bulk) {
  const flat = (action) => [
    `overlay ${action}, ${largest} files against ${smallest}`,
    times.get("overlay", action, largest) / times.get("overlay", action, smallest),
    2,
  ];
  const base = times.get("cp -a and sync", "bulk commit", bulk);
  return [
    [
      `overlay create at ${largest} files against \`cp -a\``,
      times.get("overlay", "create", largest) / times.get("cp -a", "create", largest),
      0.01,
    ],
    [
      `overlay create, ${largest} files against ${smallest}, in turn`,
      times.get("overlay", "create in turn", largest) /
        times.get("overlay", "create in turn", smallest),
      1.5,
    ],
    ...["diff", "commit", "undo", "checkpoint", "discard"].map(flat),
    [
      "copy_on_write create on xfs against `cp -a --reflink=always`",
      times.get("copy_on_write", "reflink create", largest) /
        times.get("cp -a --reflink=always", "reflink create", largest),
      1.1,
    ],
    [
      `filesystem_copy create at ${largest} files against \`cp -a\``,
      times.get("filesystem_copy", "create", largest) / times.get("cp -a", "create", largest),
      1,
    ],
    [
      `scan diff of ${largest} unchanged files against \`find\``,
      times.get("filesystem_copy", "diff unchanged", largest) /
        times.get("find", "diff unchanged (filesystem_copy)", largest),
      1.2,
    ],
    [
      `overlay commit of ${bulk} files against \`cp -a\` and \`sync\``,
      times.get("overlay", "bulk commit", bulk) / base,
      0.6,
    ],
    [
      `copy_on_write commit of ${bulk} files against \`cp -a\` and \`sync\``,
      times.get("copy_on_write", "bulk commit", bulk) / base,
      1.5,
    ],
    [
      `filesystem_copy commit of ${bulk} files against \`cp -a\` and \`sync\``,
      times.get("filesystem_copy", "bulk commit", bulk) / base,
      1.5,
    ],
    ...["overlay", "copy_on_write", "filesystem_copy"].map((strategy) => [
      `${strategy} undo of ${bulk} files against its commit`,
      times.get(strategy, "bulk undo", bulk) / times.get(strategy, "bulk commit", bulk),
      1,
    ]),
  ];
}

function targetRow([what, value, target]) {
  if (!Number.isFinite(value)) return `| ${what} | not measured | ${target} | – |`;
  return `| ${what} | ${value.toFixed(3)} | ${target} | ${value <= target ? "yes" : "no"} |`;
}

function table(times, action, sizes, subjects) {
  const head = `| subject | ${sizes.map((size) => `${size} files`).join(" | ")} | largest against smallest |`;
  const rule = `| --- | ${sizes.map(() => "---").join(" | ")} | --- |`;
  const rows = subjects.map((subject) => {
    const values = sizes.map((size) => times.get(subject, action, size));
    return `| ${subject} | ${values.map(milliseconds).join(" | ")} | ${ratio(values.at(-1), values[0])} |`;
  });
  return [head, rule, ...rows].join("\n");
}

function milliseconds(value) {
  if (value === undefined) return "–";
  return value < 100 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

function ratio(value, base) {
  return value === undefined || base === undefined ? "–" : `${(value / base).toFixed(2)} times`;
}
