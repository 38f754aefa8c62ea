import { inspectMachine } from "../../light.ts";
import type { Ability, MachineReport } from "../../index.ts";
import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { printable } from "../render/printable.ts";
import type { Style } from "../style.ts";

const FOUND_BY: Readonly<Record<string, string>> = {
  state: "in the state directory",
  mountRoot: "at the root of the mount",
  ancestor: "in a folder above",
  gitDirectory: "in the .git of the repository",
  parent: "beside the resource",
};

/** `coffer doctor`: what this machine can do at a path, each thing tried out. */
export async function examine(call: Call): Promise<ExitCode> {
  const report = await inspectMachine(call.text("path") ?? ".", call.places);
  call.answer(report, ({ style }) => render(report, style));
  return report.usable ? EXIT.done : EXIT.failed;
}

function render(report: MachineReport, style: Style): string[] {
  const row = (name: string, value: string): string => `  ${name.padEnd(24)} ${value}`;
  const tried = (name: string, ability: Ability, yes = "works"): string[] => {
    if (ability.works) return [row(name, style.good(yes))];
    const lines = [
      row(name, `${style.bad("no")}: ${oneLine(ability.reason ?? "it does not work")}`),
    ];
    return ability.hint === undefined
      ? lines
      : [...lines, row("", `hint: ${printable(ability.hint)}`)];
  };
  return [
    style.bold("Machine"),
    row("node", report.node),
    row("kernel", report.kernel),
    row("user id", String(report.uid)),
    ...tried("native calls", report.nativeCalls),
    ...tried("git", report.git, report.git.version ?? ""),
    "",
    style.bold(`Tried out for ${printable(report.path)}`),
    ...tried("overlay, kernel", report.kernelOverlay),
    ...tried("overlay, user namespace", report.userNamespaceOverlay),
    ...tried("overlay, fuse", report.fuseOverlay),
    ...tried("owners and groups", report.ownFiles, "the user's own"),
    ...tried("reflink copies", report.reflink),
    ...tried("exchange of two names", report.exchange),
    "",
    style.bold("Where things live"),
    ...tried("state directory", report.state, printable(report.state.directory)),
    ...tried("layers and undo data", report.area, areaText(report.area)),
    ...report.areas.map((area) => row("area in use", areaText(area))),
    ...renderInterrupted(report, style, row),
    "",
    report.usable
      ? style.good("Sandboxes can be made here.")
      : style.bad("No sandbox can be made here."),
  ];
}

function areaText({ path, foundBy }: { path: string | null; foundBy: string | null }): string {
  return `${printable(path ?? "")} (${FOUND_BY[foundBy ?? ""] ?? ""})`;
}

function renderInterrupted(
  { interrupted }: MachineReport,
  style: Style,
  row: (name: string, value: string) => string,
): string[] {
  if (interrupted.length === 0) return [row("interrupted work", "none")];
  return interrupted.map(({ transaction, kind, since, locations }) =>
    row(
      "interrupted work",
      style.bad(
        `${kind ?? "transaction"} ${transaction} since ${since ?? "?"}: ${locations.map(printable).join(", ")}`,
      ),
    ),
  );
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s*\n\s*/g, "; "));
}
