import { openCofferdam } from "../../light.ts";
import type { StrategiesReport, StrategyReport } from "../../index.ts";
import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { printable } from "../render/printable.ts";
import type { Style } from "../style.ts";
import { capabilitiesInWords } from "../words.ts";

const CHOSEN_BY: Readonly<Record<string, string>> = {
  resource: "chosen by the resource",
  resourceType: "chosen by the resource type",
  global: "chosen by sandbox.strategy",
  default: "the default",
};

/** `coffer strategies`: every strategy, what it promises, and whether it works at a path. */
export async function showStrategies(call: Call): Promise<ExitCode> {
  await using cofferdam = await openCofferdam({ ...call.places, recover: "report" });
  const report = await cofferdam.inspectStrategies(call.text("path") ?? ".");
  const { file } = cofferdam.config;
  call.answer({ ...report, configFile: file }, ({ style }) => render(report, file, style));
  return EXIT.done;
}

function render(report: StrategiesReport, file: string | null, style: Style): string[] {
  const { location, resourceType, strategies, chosen } = report;
  const configuration = file === null ? [] : [`Configuration: ${printable(file)}`];
  return [
    `Strategies for ${style.bold(printable(location))} (${resourceType})`,
    ...configuration,
    ...strategies.flatMap((strategy) => {
      const by = strategy.isChosen ? ` (${CHOSEN_BY[chosen.chosenBy] ?? chosen.chosenBy})` : "";
      return ["", `${style.bold(printable(strategy.name))}${by}`, ...details(strategy, style)];
    }),
  ];
}

function details(strategy: StrategyReport, style: Style): string[] {
  const { capabilities, module, exportName, error } = strategy;
  const origin =
    module === undefined ? [] : [`  from ${printable(`${module}, class ${exportName}`)}`];
  const hint = error?.hint ?? strategy.probe?.hint;
  return [
    `  ${verdict(strategy, style)}`,
    ...(hint === undefined ? [] : [`  hint: ${printable(hint)}`]),
    ...origin,
    ...(capabilities === null
      ? []
      : capabilitiesInWords(capabilities).map((words) => `  - ${words}`)),
  ];
}

function verdict({ fits, probe, error }: StrategyReport, style: Style): string {
  if (error !== null) return `${style.bad("cannot be used")}: ${printable(error.message)}`;
  if (!fits) return "does not fit this type of resource";
  if (probe === null) return "has no trial of its own; making a sandbox will tell";
  const mode = probe.mode === undefined ? "" : `, mode ${printable(probe.mode)}`;
  const reason = probe.reason === undefined ? "" : `: ${printable(probe.reason)}`;
  return probe.works
    ? `${style.good("works here")}${mode}${reason}`
    : `${style.bad("does not work here")}${reason}`;
}
