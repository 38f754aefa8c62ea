import type { ProbeResult } from "../../contract/strategy.ts";
import type { Git } from "./git.ts";

/** The first git with `merge-tree --write-tree`. */
const OLDEST = [2, 38] as const;

/** Whether the git of this machine can merge without a checkout. */
export async function probeGit(git: Git): Promise<ProbeResult> {
  const hint = `Install git ${OLDEST.join(".")} or newer.`;
  try {
    const text = await git.line(["--version"]);
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? [];
    const isOld =
      Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
    if (!isOld) return { works: true, mode: "worktree" };
    return { works: false, reason: `${text} cannot merge without a checkout`, hint };
  } catch {
    return { works: false, reason: "the program git cannot be run", hint };
  }
}
