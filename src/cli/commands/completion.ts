import type { Call } from "../call.ts";
import type { CommandSpec } from "../command.ts";
import { completionFor } from "../completion.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { usageError } from "../usage-error.ts";

/** `coffer completion`: what a shell needs to complete commands, options and plans. */
export function printCompletion(call: Call, commands: readonly CommandSpec[]): Promise<ExitCode> {
  return Promise.resolve().then(() => {
    const shell = call.needed("shell");
    const script = completionFor(shell, commands);
    if (script === null) throw usageError(`unknown shell '${shell}'`, "Name bash, zsh or fish.");
    call.answer({ shell, script }, () => [script.trimEnd()]);
    return EXIT.done;
  });
}
