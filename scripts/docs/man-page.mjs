/** The manual of the command, in the language of man pages, made from the command table. Needs a built `dist/`. */
export async function manPage(version) {
  const { COMMANDS } = await import("../../dist/cli/command-table.js");
  const { GLOBAL_OPTIONS, synopsisOf } = await import("../../dist/cli/command.js");
  const { EXIT, EXIT_MEANINGS } = await import("../../dist/cli/exit-codes.js");
  const lines = [
    `.TH COFFER 1 "" "cofferdam ${version}" "User Commands"`,
    ".SH NAME",
    text("coffer - work in isolation, look at one diff, commit all or none"),
    ".SH SYNOPSIS",
    ".B coffer",
    text("COMMAND [OPTION]..."),
    ".SH DESCRIPTION",
    text(
      "A plan holds sandboxes of several resources, which are committed together or not at all.",
    ),
    text("A RESOURCE is a name from cofferdam.yaml, a path, or [STRATEGY+]TYPE:LOCATION with TYPE"),
    text("dir, file, mount, git, sqlite, postgres, mariadb or a type of the configuration."),
    ".SH OPTIONS",
    "Every command takes these.",
    ...GLOBAL_OPTIONS.flatMap(option),
    ".SH COMMANDS",
    ...COMMANDS.flatMap((spec) => command(spec, synopsisOf(spec))),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT).flatMap(([name, number]) => [
      ".TP",
      `.B ${number}`,
      text(EXIT_MEANINGS[name]),
    ]),
    ".SH ENVIRONMENT",
    ...[
      ["PAGER", "shows diffs on a terminal; less -FRX unless set"],
      ["NO_COLOR", "no colours"],
      ["XDG_STATE_HOME", "holds the state directory unless --state or the configuration says so"],
      ["XDG_CACHE_HOME", "holds what Node compiled of this program; ~/.cache unless set"],
      ["NODE_DISABLE_COMPILE_CACHE", "keeps nothing that was compiled"],
    ].flatMap(([name, meaning]) => [".TP", `.B ${name}`, text(meaning)]),
  ];
  return `${lines.join("\n")}\n`;
}

function command(spec, synopsis) {
  return [
    `.SS ${text(synopsis)}`,
    text(`${spec.summary[0].toUpperCase()}${spec.summary.slice(1)}.`),
    ...spec.details
      .split("\n")
      .filter((line) => line !== "")
      .map(text),
    ...spec.options.flatMap(option),
    ...spec.examples.flatMap(([line, meaning]) => [
      ".PP",
      text(`${meaning}:`),
      ".RS",
      ".nf",
      text(line),
      ".fi",
      ".RE",
    ]),
  ];
}

function option({ flags, description }) {
  return [".TP", `.B ${text(flags)}`, text(description)];
}

/** Text in which nothing is taken for a request, and a hyphen is one that can be copied. */
function text(plain) {
  const escaped = plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replaceAll("→", "->");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
