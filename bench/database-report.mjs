import { BY_HAND } from "./database-kinds.mjs";

const LIMIT_MS = 5;
/** For a run in a folder that was named by `BENCH_DIR`. */
const APART = [
  "",
  "This run was made in a new folder of its own (`BENCH_DIR`), away from deleted files. In the temp folder, or after",
  "deletions, all of `commit()` but applying the log can take longer than its limit.",
];

/** The numbers of databases as the last section of the page. */
export function renderDatabases({ isApart, sizes, rounds, changed, scripts, syncs }, times) {
  const [smallest, largest] = [sizes[0], sizes.at(-1)];
  const kinds = Object.keys(BY_HAND).filter((kind) => syncs[`${kind} disk`] !== undefined);
  const rows = kinds.flatMap((kind) =>
    ["disk", "memory"].map((place) => commitRow(kind, place, syncs, times)),
  );
  return [
    "## Databases",
    "",
    `Made by \`npm run bench:databases\`: medians of ${rounds} rounds, all of one kind in one run, in turn.`,
    "",
    "### Commit of 20 rows",
    "",
    "`COMMIT` is that of the same transaction by the server's own client, after its statements. A sandbox's commit is all",
    "of `commit()`: the records of the plan, the log applied and checked row by row, both phases, the outcome kept for an",
    "undo. The statements are left out of `COMMIT`, so there are two numbers without the time in which the log is applied:",
    "the phases are from there until the server has ended the second one and everybody sees the rows, with our record and",
    "decision on disk in between; the rest of `commit()` is what comes before the first statement and after the last one.",
    "Of our own syncs the table has how many there are, how many of them have to wait for one before, and the time with one",
    "under way. In memory, where a sync costs nothing, the server and our records lie in `/dev/shm`: what is left there is",
    "everything but the disk.",
    "",
    "| database | on | `COMMIT` | by hand | sandbox | phases | with the rest | our syncs | in order | waiting for them |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    `By hand is ${kinds.map((kind) => `${BY_HAND[kind]} (${kind})`).join(", ")}. SQLite has no two phases: its commit is`,
    "one step, with the log applied in it.",
    "",
    ...newFileText(kinds, times),
    ...(isApart ? APART : []),
    ...targetRows(times),
    "",
    `### ${changed} changed rows in tables of ${smallest} and ${largest}`,
    "",
    "| database | call | small table | large table | large against small |",
    "| --- | --- | --- | --- | --- |",
    ...kinds.flatMap((kind) =>
      ["write", "diff", "commit", "undoCommit"].map((action) => {
        const [small, large] = [
          times.get(kind, action, smallest),
          times.get(kind, action, largest),
        ];
        return `| ${kind} | ${action} | ${ms(small)} | ${ms(large)} | ${(large / small).toFixed(2)} times |`;
      }),
    ),
    "",
    `### Scripts of ${scripts.join(" and ")} statements`,
    "",
    "Each statement inserts one row. By hand they are sent one by one, in one transaction.",
    "",
    "| database | statements | by hand | `write` | for each | of the shorter script |",
    "| --- | --- | --- | --- | --- | --- |",
    ...kinds.flatMap((kind) => scripts.map((count) => scriptRow(kind, count, scripts[0], times))),
    "",
  ].join("\n");
}

function scriptRow(kind, count, least, times) {
  const [byHand, ours] = ["scriptByHand", "script"].map((what) => times.get(kind, what, count));
  const each = ours / count;
  const ofShort = times.get(kind, "script", least) / least;
  return `| ${kind} | ${count} | ${ms(byHand)} | ${ms(ours)} | ${each.toFixed(2)} ms | ${(each / ofShort).toFixed(2)} times |`;
}

/** What the disk took for the one thing besides syncs that a commit asks of it, which varies more than all others. */
function newFileText(kinds, times) {
  const taken = kinds.map((kind) => times.get(`${kind} disk`, "file", 20));
  return [
    `An empty file took ${taken.map((value) => `${value.toFixed(2)} ms`).join(", ")} to make on the disk, in the same rounds (in this order of`,
    "databases); a commit in two phases makes eleven. ext4 without a journal needs up to ten times as long for some minutes",
    "after many files were deleted nearby, and a commit is slower by as much.",
  ];
}

/** What the two-phase commit of PostgreSQL may cost, where it was measured. */
function targetRows(times) {
  const of = (subject) => times.get("PostgreSQL disk", subject, 20);
  if (of("phases") === undefined) return [];
  const row = (what, subject) => {
    const over = of(subject) - of("plain");
    return `| ${what} over \`COMMIT\` | ${LIMIT_MS} ms | ${ms(over)} | ${over <= LIMIT_MS ? "yes" : "no"} |`;
  };
  return [
    "",
    "| PostgreSQL on disk | limit | measured | met |",
    "| --- | --- | --- | --- |",
    row("our two phases", "phases"),
    row("all of `commit()` but applying the log,", "withoutLog"),
  ];
}

function commitRow(kind, place, syncs, times) {
  const of = (subject) => times.get(`${kind} ${place}`, subject, 20);
  const spent = ["plain", "byHand", "ours", "phases", "withoutLog"].map((subject) =>
    of(subject) === undefined ? "–" : ms(of(subject)),
  );
  const { count, ordered, waitedMs } = syncs[`${kind} ${place}`];
  const cells = [...spent, count, ordered, ms(waitedMs)];
  return `| ${kind} | ${place} | ${cells.join(" | ")} |`;
}

function ms(value) {
  return value < 10 ? `${value.toFixed(2)} ms` : `${value.toFixed(1)} ms`;
}
