import { basename } from "node:path";
import type { Call } from "../call.ts";
import type { ExitCode } from "../exit-codes.ts";
import { isOffered, knownPlan, openFor } from "../open-plan.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { runEnclosed } from "../run/run-enclosed.ts";

/** `coffer shell`: the user's shell in an open plan. */
export async function startShell(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const { plan, sandboxes } = await knownPlan(cofferdam, call.needed("plan"));
  const name = quoted(plan.id);
  const shell = process.env["SHELL"] || "/bin/sh";
  const isElsewhere = await isOffered(cofferdam, sandboxes, "encloses");
  call.tell(`You are in the plan ${printable(plan.id)}; \`exit\` leaves it.`);
  const result = isElsewhere
    ? await runEnclosed(call, plan, shellElsewhere(plan.id, shell))
    : await runEnclosed(call, plan, [shell], marked(plan.id, shell));
  if (call.json) call.answerJson({ planId: plan.id, ...result });
  call.suggest(
    [`coffer diff ${name}`, "see what would be committed"],
    [`coffer commit ${name}`, "publish it, all or nothing"],
  );
  return result.exitCode;
}

/** A system of its own has shells of its own, and takes neither a path nor a prompt from here. */
function shellElsewhere(planId: string, shell: string): string[] {
  const prompt = `${markOf(planId)}\\$ `;
  return ["sh", "-c", FIRST_SHELL, "sh", prompt, markAgain(planId), basename(shell)];
}

const FIRST_SHELL = `export PS1="$1" PROMPT_COMMAND="$2"
for shell in "$3" bash; do ! command -v "$shell" >/dev/null || exec "$shell"; done
exec sh`;

function markOf(planId: string): string {
  return `(coffer ${planId.replaceAll(/[^\w.-]/g, "_")}) `;
}

/** Bash runs this before each prompt; the settings it has read may have replaced the one of the environment. */
function markAgain(planId: string): string {
  const mark = markOf(planId);
  return `case $PS1 in "${mark}"*) ;; *) PS1="${mark}$PS1" ;; esac`;
}

/** The environment with a prompt that tells where one is, also after the shell has read its own settings. */
function marked(planId: string, shell: string): Record<string, string | undefined> {
  const { PS1 } = process.env;
  if (basename(shell) !== "bash") return { ...process.env, PS1: `${markOf(planId)}${PS1 ?? "$ "}` };
  const again = markAgain(planId);
  const usual = process.env["PROMPT_COMMAND"];
  return {
    ...process.env,
    PROMPT_COMMAND: usual === undefined || usual === "" ? again : `${usual}\n${again}`,
  };
}
