import { GLOBAL_OPTIONS } from "./command.ts";
import type { CommandSpec, OptionSpec } from "./command.ts";

/** Asks the program itself which plans there are; one that fails completes nothing. */
const PLANS = `coffer list --json -q 2>/dev/null | sed -n 's/^    "planId": "\\(.*\\)",$/\\1/p'`;

/** The completion script of a shell, made from the command table; null for an unknown shell. */
export function completionFor(shell: string, all: readonly CommandSpec[]): string | null {
  const commands = all.filter(({ parent }) => parent === undefined);
  const below = ({ name }: CommandSpec): readonly CommandSpec[] =>
    all.filter(({ parent }) => parent === name);
  if (shell === "bash") return bash(commands, below);
  if (shell === "zsh") return zsh(commands, below);
  return shell === "fish" ? fish(commands, below) : null;
}

/** The commands whose names stand behind that of another one. */
type Below = (spec: CommandSpec) => readonly CommandSpec[];

function bash(commands: readonly CommandSpec[], below: Below): string {
  const cases = commands.map((spec) => {
    const words = [...spec.options, ...GLOBAL_OPTIONS].flatMap(namesOf).join(" ");
    const names = below(spec).map(({ name }) => name);
    const only = choicesOf(spec);
    const more = [
      ...(names.length === 0 ? [] : [`; names="${names.join(" ")}"`]),
      ...(only.length === 0 ? [] : [`; only=${bashLines(only)}`]),
    ].join("");
    return `    ${spec.name}) words="${words}"; plan=${takesPlan(spec) ? 1 : 0}${more} ;;`;
  });
  const all = commands.map(({ name }) => name).join(" ");
  const values = commands.flatMap(({ options }) => options).filter(isValued);
  const chosen = new Map(values.map((one) => [namesOf(one).join("|"), bashValues(one)]));
  const valueCases = [...chosen].map(([flags, list]) => `    ${flags}) choices=${list} ;;`);
  return `_coffer() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  local words="" names="" only="" choices="" plan=0
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${all} help --version --help"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  case "$command" in
${cases.join("\n")}
    help) only=${bashLines(commands.map(({ name }) => name))} ;;
  esac
  case "$before" in
${valueCases.join("\n")}
  esac
  [ "$COMP_CWORD" -ne 2 ] || choices="\${choices:-$only}"
  if [ -n "$choices" ] && [ "\${word:0:1}" != "-" ]; then
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ "$plan" -eq 1 ] && [ "\${word:0:1}" != "-" ]; then
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "$(${PLANS})" -- "$word"))
  elif [ "\${word:0:1}" = "-" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    [ "$COMP_CWORD" -eq 2 ] || names=""
    COMPREPLY=($(compgen -f -W "$names" -- "$word"))
  fi
}
complete -o filenames -F _coffer coffer
`;
}

function zsh(commands: readonly CommandSpec[], below: Below): string {
  const names = commands.map(({ name, summary }) => `    ${zshText(`${name}:${summary}`)}`);
  const cases = commands.map((spec) => {
    const names = below(spec).map(({ name }) => name);
    const only = choicesOf(spec);
    const chosen = only.length === 0 ? "" : `'1:name:(${only.join(" ")})' `;
    const own = names.length === 0 ? chosen : `'1:name:{compadd ${names.join(" ")}; _files}' `;
    const plans = takesPlan(spec) ? "'1:plan:_coffer_plans' " : own;
    const first = `${plans}'*:file:_files'`;
    const options = [...spec.options, ...GLOBAL_OPTIONS].flatMap(zshOptions);
    return `    ${spec.name}) _arguments -s ${[first, ...options].join(" ")} ;;`;
  });
  return `#compdef coffer
_coffer_plans() {
  local -a plans
  plans=(\${(f)"$(${PLANS})"})
  compadd -a plans
}
_coffer() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
    *) _files ;;
  esac
}
compdef _coffer coffer
`;
}

function zshOptions(option: OptionSpec): string[] {
  const { flags, description, isMany } = option;
  const text = description.replace(/[[\]:\\]/g, String.raw`\$&`);
  const value = /<(.*)>/.exec(flags)?.[1];
  const many = isMany === true ? "*" : "";
  const kind = value === undefined ? "" : `:${value}:${zshValues(option)}`;
  return namesOf(option).map((name) => zshText(`${many}${name}[${text}]${kind}`));
}

function zshValues(option: OptionSpec): string {
  if (option.choices !== undefined) return `(${option.choices.join(" ")})`;
  return isPlan(option) ? "_coffer_plans" : "_files";
}

function zshText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function fish(commands: readonly CommandSpec[], below: Below): string {
  const first = "not __fish_seen_subcommand_from " + commands.map(({ name }) => name).join(" ");
  const lines = commands.flatMap((spec) => {
    const inside = `__fish_seen_subcommand_from ${spec.name}`;
    return [
      `complete -c coffer -f -n '${first}' -a ${spec.name} -d ${fishText(spec.summary)}`,
      ...(takesPlan(spec) ? [`complete -c coffer -n '${inside}' -a "(${fishPlans()})"`] : []),
      ...choicesOf(spec).map((name) => `complete -c coffer -f -n '${inside}' -a ${name}`),
      ...below(spec).map(
        ({ name, summary }) =>
          `complete -c coffer -n '${inside}' -a ${name} -d ${fishText(summary)}`,
      ),
      ...spec.options.map((option) => fishOption(option, ` -n '${inside}'`)),
    ];
  });
  return `${[...lines, ...GLOBAL_OPTIONS.map((option) => fishOption(option, ""))].join("\n")}\n`;
}

function fishOption(option: OptionSpec, condition: string): string {
  const { flags, description, choices } = option;
  const names = namesOf(option)
    .map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(" ");
  const plans = isPlan(option) ? ` -f -a "(${fishPlans()})"` : "";
  const listed = choices === undefined ? plans : ` -f -a '${choices.join(" ")}'`;
  const value = flags.includes("<") ? ` -r${listed}` : "";
  return `complete -c coffer${condition} ${names}${value} -d ${fishText(description)}`;
}

function fishPlans(): string {
  return PLANS.replaceAll('"', String.raw`\"`).replaceAll("$", String.raw`\$`);
}

function fishText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}

function namesOf({ flags }: OptionSpec): string[] {
  return flags
    .replace(/ <.*$/, "")
    .split(", ")
    .filter((name) => name.startsWith("-"));
}

/** Whether it is known what can stand behind an option. */
function isValued(option: OptionSpec): boolean {
  return option.choices !== undefined || isPlan(option);
}

function isPlan({ flags }: OptionSpec): boolean {
  return flags.endsWith("<PLAN>");
}

function bashValues({ choices }: OptionSpec): string {
  return choices === undefined ? `"$(${PLANS})"` : bashLines(choices);
}

/** Names may have blanks in them, so that words are told apart by lines. */
function bashLines(words: readonly string[]): string {
  return `$'${words.join(String.raw`\n`)}'`;
}

/** The only words that can stand behind the name of a command. */
function choicesOf({ arguments: [first] }: CommandSpec): readonly string[] {
  return first?.choices ?? [];
}

function takesPlan({ name, arguments: [first] }: CommandSpec): boolean {
  return first?.name === "PLAN" && name !== "open";
}
