import { builtInCapabilities } from "./built-in-capabilities.mjs";
import { table } from "./markdown-table.mjs";
import { commandParts } from "./command-parts.mjs";
import { reliabilityParts } from "./reliability-parts.mjs";

/** The promises that differ between strategies, in the order of the page. */
const PROMISES = [
  "isolation",
  "undoCommit",
  "prepare",
  "path",
  "pathCalls",
  "checkpoints",
  "forks",
  "drops",
  "resolves",
  "changeTracking",
];

/** Every part of the docs that is made from the code, by name. Needs a built `dist/`. */
export async function generatedParts(errors, root) {
  const { ALLOWED_FROM, SANDBOX_STATUSES, TRANSITIONS, renderStateDiagram } =
    await import("../../dist/model/status.js");
  const names = await import("../../dist/model/strategy-names.js");
  return {
    ...reliabilityParts(root),
    ...(await commandParts()),
    "state diagram": fence("mermaid", renderStateDiagram()),
    transitions: table(
      ["from", "to", "by"],
      TRANSITIONS.map(({ from, to, by }) => [code(from), code(to), by]),
    ),
    "allowed calls": table(
      ["call", ...SANDBOX_STATUSES.map(code)],
      Object.entries(ALLOWED_FROM).map(([call, from]) => [
        code(call),
        ...SANDBOX_STATUSES.map((status) => (from.includes(status) ? "yes" : "")),
      ]),
    ),
    "strategy matrix": table(
      ["resource type", ...names.BUILT_IN_STRATEGY_NAMES.map(code)],
      names.BUILT_IN_RESOURCE_TYPE_NAMES.map((type) => [
        code(type),
        ...names.BUILT_IN_STRATEGY_NAMES.map((name) => cell(type, name, names)),
      ]),
    ),
    capabilities: table(
      ["strategy", ...PROMISES.map(code)],
      [...(await builtInCapabilities())].map(([name, promised]) => [
        code(name),
        ...PROMISES.map((promise) => show(promised[promise])),
      ]),
    ),
    "error list": table(
      ["error", "code", "fields of `data`"],
      errors.map(({ name, code: text, fields }) => [
        `[${name}](#${name.toLowerCase()})`,
        code(text),
        fields.map((field) => code(`${field.name}${field.isOptional ? "?" : ""}`)).join(", "),
      ]),
    ),
  };
}

function show(promise) {
  return typeof promise === "boolean" ? (promise ? "yes" : "no") : promise;
}

function cell(type, name, { STRATEGY_FITS, DEFAULT_STRATEGIES }) {
  if (!STRATEGY_FITS[name].includes(type)) return "";
  return DEFAULT_STRATEGIES[type] === name ? "default" : "yes";
}

function fence(language, text) {
  return ["```" + language, text, "```"].join("\n");
}

function code(text) {
  return `\`${text}\``;
}
