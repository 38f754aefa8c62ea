import { basename } from "node:path";
import type { Call } from "../call.ts";
import type { ExitCode } from "../exit-codes.ts";
import { knownPlan, openFor } from "../open-plan.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { runEnclosed } from "../run/run-enclosed.ts";

/** `coffer shell`: the user's shell in an open plan. */
export async function startShell(call: Call): Promise<ExitCode> {
  await using cofferdam = await openFor(call);
  const { plan } = await knownPlan(cofferdam, call.needed("plan"));
  const name = quoted(plan.id);
  const shell = process.env["SHELL"] || "/bin/sh";
  call.tell(`You are in the plan ${printable(plan.id)}; \`exit\` leaves it.`);
  const result = await runEnclosed(call, plan, [shell], marked(plan.id, shell));
  if (call.json) call.answerJson({ planId: plan.id, ...result });
  call.suggest(
    [`coffer diff ${name}`, "see what would be committed"],
    [`coffer commit ${name}`, "publish it, all or nothing"],
  );
  return result.exitCode;
}

/** The environment with a prompt that tells where one is, also after the shell has read its own settings. */
function marked(planId: string, shell: string): Record<string, string | undefined> {
  const mark = `(coffer ${planId.replaceAll(/[^\w.-]/g, "_")}) `;
  const { PS1 } = process.env;
  if (basename(shell) !== "bash") return { ...process.env, PS1: `${mark}${PS1 ?? "$ "}` };
  // Bash runs this before each prompt; the settings it has read may have replaced the one of the environment.
  const again = `case $PS1 in "${mark}"*) ;; *) PS1="${mark}$PS1" ;; esac`;
  const usual = process.env["PROMPT_COMMAND"];
  return {
    ...process.env,
    PROMPT_COMMAND: usual === undefined || usual === "" ? again : `${usual}\n${again}`,
  };
}
