import { isatty } from "node:tty";
import type { ShownPlace } from "../../contract/enclosed-command.ts";
import type { CallOptions } from "../../contract/strategy.ts";
import { UnsupportedStrategyError } from "../../errors/index.ts";
import { type CommandStream, runPlainly } from "../../exec/run-command.ts";
import { realLocation } from "../../exec/real-location.ts";
import type { ShownFolder } from "../../exec/shown-sandbox.ts";
import { linkedWorktree } from "../../exec/worktree.ts";
import { workspacePath } from "../edit.ts";
import { lendSurroundings, takeSurroundingsBack } from "../lend-copy.ts";
import type { PlanMember } from "./plan-members.ts";

interface SurroundedOptions extends CallOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdio?: readonly [CommandStream, CommandStream, CommandStream];
  readonly network?: boolean;
}

/**
 * The sandbox that has surroundings for the commands of its plan; null where none has.
 * @throws UnsupportedStrategyError (`UNSUPPORTED_STRATEGY`) when there are two: a command runs in one place.
 */
export function enclosingMember(members: readonly PlanMember[]): PlanMember | null {
  const [first, second] = members.filter(({ capabilities }) => capabilities.encloses);
  if (first === undefined) return null;
  if (second === undefined) return first;
  const { planId, resourceId, strategyName } = second.record.ref;
  const both = [first.resourceId, resourceId].map((id) => JSON.stringify(id)).join(" and ");
  throw new UnsupportedStrategyError(
    `No command can run in this plan: ${both} would both run it in surroundings of their own`,
    {
      data: { resourceType: second.record.resource.type, strategyName, allowed: [] },
      operation: "run",
      planId,
      resourceId,
      hint: "Take one of them out of the plan, or give it another strategy: it is shown in the other one then.",
    },
  );
}

/** A sandbox as the folder that it is. */
export async function showFolder({ guarded, record }: PlanMember): Promise<ShownFolder> {
  const location = realLocation(record.resource.location);
  const workspace = await workspacePath(guarded, record.ref);
  const worktree = linkedWorktree(location, workspace);
  return worktree === null ? { location, workspace } : { location, workspace, worktree };
}

/** How a command ended, and the paths of its surroundings that it changed. */
interface SurroundedEnd {
  readonly exitCode: number;
  readonly surroundings: readonly string[];
}

/**
 * Runs a command in the surroundings that one sandbox of the plan has for it. What it did there is in that sandbox when
 * the promise settles, however the command ended.
 */
export async function runInSurroundings(
  { guarded, record: { ref } }: PlanMember,
  argv: readonly string[],
  options: SurroundedOptions,
  folders: readonly ShownPlace[],
): Promise<SurroundedEnd> {
  const { cwd = process.cwd(), env = process.env, network = true, signal } = options;
  const stdio = options.stdio ?? (["inherit", "inherit", "inherit"] as const);
  const command = await lendSurroundings(guarded, ref, {
    argv,
    cwd,
    environment: env,
    planEnvironment: { COFFERDAM_PLAN: ref.planId },
    terminal: isTerminal(stdio[0], 0) && isTerminal(stdio[1], 1),
    network,
    folders,
  });
  const started = { argv: command.argv, cwd: "/", env: command.environment, stdio, signal };
  const ended = await Promise.allSettled([runPlainly(started)]);
  // However it ended: what it did is taken before anybody hears of it.
  const surroundings = await takeSurroundingsBack(guarded, ref);
  if (ended[0].status === "rejected") throw ended[0].reason;
  return { exitCode: ended[0].value.exitCode, surroundings };
}

function isTerminal(stream: CommandStream, descriptor: number): boolean {
  if (stream === "ignore") return false;
  return isatty(stream === "inherit" ? descriptor : stream);
}
