import type { CallOptions, SandboxAddress } from "../../contract/strategy.ts";
import type { Outside, OutsideReport } from "../../exec/outside.ts";
import { type Command, type CommandStream, ViewError } from "../../exec/run-command.ts";
import { realLocation } from "../../exec/real-location.ts";
import { runInView, runInWorkspaces } from "../../exec/run-in-view.ts";
import { foldersToShow } from "../../exec/folders-to-show.ts";
import type { ShownSandbox } from "../../exec/shown-sandbox.ts";
import { withSubmodules } from "../../exec/submodule-links.ts";
import { listAreas } from "../../journal/area-list.ts";
import type { PlanRun } from "../../journal/plan-runs.ts";
import { SandboxStateError } from "../../errors/index.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import { ALLOWED_FROM } from "../../model/status.ts";
import { type Engine, timestamp } from "../engine.ts";
import { beginLayers, endLayers, keepBases, unchangeable, workspacePath } from "../edit.ts";
import { repaired } from "../checkpoints/plan-checkpoint-call.ts";
import { lendCopy, takeCopyBack } from "../lend-copy.ts";
import { withQuietPlan } from "../plan-lock.ts";
import { refuseAborted, tracked } from "../with-sandbox.ts";
import { type PlanMember, planMembers, unknownPlan } from "./plan-members.ts";
import { enclosingMember, runInSurroundings, showFolder } from "./run-in-surroundings.ts";
import { withAddresses } from "./with-addresses.ts";

/** How a command runs in a plan. */
export interface PlanRunOptions extends CallOptions {
  /** Where it starts; a path of the real machine. The present directory unless given. */
  readonly cwd?: string;
  /** Its environment; that of this process unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Its three standard streams; those of this process unless given. */
  readonly stdio?: readonly [CommandStream, CommandStream, CommandStream];
  /** What becomes of writes outside the plan. Default `discard`. */
  readonly outside?: Outside;
  /** Without it the command reaches nobody but itself. Default true. */
  readonly network?: boolean;
  /** Told before the command is started without a view of its own, which this machine does not allow. */
  readonly onUnenclosed?: (reason: string) => void;
  /** Told before the command is started, of resources that it will not find as the plan has them, such as databases. */
  readonly onUnreached?: (resourceIds: readonly string[]) => void;
}

/** Whether a command saw the sandboxes at the real paths; else why not. */
export type Enclosed =
  { readonly isEnclosed: true } | { readonly isEnclosed: false; readonly reason: string };

/** How a command in a plan ended. */
export interface PlanRunResult {
  /** Its own code; 128 and the number of the signal where one ended it. */
  readonly exitCode: number;
  /** Whether it saw the sandboxes at the real paths; else why not. */
  readonly enclosed: Enclosed;
  /** What it did outside the plan, and was thrown away; null where nothing is. */
  readonly outside: OutsideReport | null;
  /** Places outside the plan that it could only read, though writes there were to be thrown away. */
  readonly fixed: readonly string[];
  /**
   * A few paths of the plan that it could not change, because their owner or group is not the user's own: programs say
   * `Value too large for defined data type`. Looked for only when it failed.
   */
  readonly unchangeable: readonly string[];
  /** Resources of the plan that it could not reach by a path, such as databases of a server. */
  readonly unreached: readonly string[];
  /** Where a sandbox has surroundings of its own for it, such as a container: paths that it changed there, and that the plan keeps. */
  readonly surroundings: readonly string[];
}

/**
 * Runs a command that sees every sandbox of a plan at the real path of its resource. Meanwhile the plan can be looked
 * at, and nothing else. The edits stay in the plan, however the command ends.
 * @throws PlanBusyError when another command runs in it; SandboxStateError for an unknown plan.
 */
export function runInPlan(
  engine: Engine,
  planId: string,
  argv: readonly string[],
  options: PlanRunOptions = {},
): Promise<PlanRunResult> {
  return tracked(engine, async () => {
    refuseAborted(options.signal, "run");
    const begun = await withQuietPlan(engine, planId, options.signal, async () => {
      // Before it counts as running: what a killed command has left is taken first.
      const members = await repaired(await planMembers(engine, planId));
      refuseCommitted(members);
      const enclosing = enclosingMember(members);
      const run = engine.runs.begin(planId, engine.ids.next(), timestamp(engine));
      try {
        if (enclosing === null) return { run, enclosing, members: await showMembers(members) };
        return { run, enclosing, members: await showFolders(members) };
      } catch (error) {
        run.end();
        throw error;
      }
    });
    if (begun === null) throw unknownPlan(planId, "run");
    const { run, members, enclosing } = begun;
    try {
      const result =
        enclosing === null
          ? await runShown(engine, planId, argv, { options, run, members })
          : await runSurrounded(enclosing, argv, { options, run, members });
      await takeCopies(members);
      for (const { member } of members) await keepBases(member.guarded, refOf(member));
      return result;
    } finally {
      run.end();
    }
  });
}

/** A committed plan is frozen: said of the plan, because nobody asked for one of its sandboxes. */
function refuseCommitted(members: readonly PlanMember[]): void {
  const found = members.find(({ record }) => record.status === "COMMITTED");
  if (found === undefined) return;
  const { planId, resourceId } = found.record.ref;
  throw new SandboxStateError("The plan is committed: no command can run in it any more", {
    data: {
      status: "COMMITTED",
      attempted: "run",
      allowedFrom: ALLOWED_FROM.getPath,
      reason: "status",
    },
    operation: "run",
    planId,
    resourceId,
    hint: "Open a new plan, or roll this one back to take its commit back.",
  });
}

/** A sandbox, and how a command sees it; null when it cannot. */
interface ShownMember {
  readonly member: PlanMember;
  readonly shown: ShownSandbox | null;
  /** Where the command finds it instead, by its environment. */
  readonly address?: SandboxAddress;
}

interface Begun {
  readonly options: PlanRunOptions;
  readonly run: PlanRun;
  readonly members: readonly ShownMember[];
}

async function runShown(
  engine: Engine,
  planId: string,
  argv: readonly string[],
  { options, run, members }: Begun,
): Promise<PlanRunResult> {
  const { cwd = process.cwd(), env = process.env, signal } = options;
  const command = {
    argv,
    cwd,
    env: { ...withAddresses(env, addressesOf(members)), COFFERDAM_PLAN: planId },
    stdio: options.stdio ?? (["inherit", "inherit", "inherit"] as const),
    signal,
  };
  const isUnreached = ({ shown, address }: ShownMember): boolean =>
    shown === null &&
    (address === undefined || (address.needsNetwork && options.network === false));
  const unreached = namesOf(members, isUnreached);
  if (unreached.length > 0) options.onUnreached?.(unreached);
  try {
    const done = await viewed(members, () =>
      runInView(command, {
        ...run,
        state: engine.state.path,
        masked: listAreas(engine.state.path).map(({ path }) => path),
        sandboxes: members.flatMap(({ shown }) => shown ?? []),
        outside: options.outside ?? "discard",
        network: options.network ?? true,
      }),
    );
    const { exitCode, fixed, outside, hidden } = done;
    const unseen = namesOf(
      members,
      (one) =>
        isUnreached(one) ||
        (one.shown !== null && "copy" in one.shown && hidden.includes(one.shown.location)),
    );
    return {
      exitCode,
      fixed,
      unchangeable: exitCode === 0 ? [] : await unchangeableIn(members),
      enclosed: { isEnclosed: true },
      outside,
      unreached: unseen,
      surroundings: [],
    };
  } catch (error) {
    if (!(error instanceof ViewError)) throw error;
    options.onUnenclosed?.(error.message);
    return runUnenclosed(command, members, options, error.message);
  }
}

function namesOf(
  members: readonly ShownMember[],
  isMeant: (member: ShownMember) => boolean,
): readonly string[] {
  return members.filter(isMeant).map(({ member }) => member.resourceId);
}

/** Runs the work, after which nothing has the layers mounted any more. */
async function viewed<T>(members: readonly ShownMember[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    for (const { member, shown } of members) {
      if (shown !== null && "options" in shown) await endLayers(member.guarded, refOf(member));
    }
  }
}

async function unchangeableIn(members: readonly ShownMember[]): Promise<string[]> {
  const found: string[] = [];
  for (const { member, shown } of members) {
    if (shown !== null && "options" in shown)
      found.push(...(await unchangeable(member.guarded, refOf(member))));
  }
  return found;
}

/** Takes what a command did in private copies. After a failure the next call on the plan takes the rest. */
async function takeCopies(members: readonly ShownMember[]): Promise<void> {
  for (const { member, shown, address } of members) {
    const isLent = address !== undefined || (shown !== null && "copy" in shown);
    if (isLent) await takeCopyBack(member.guarded, refOf(member));
  }
}

/** Runs a command in the workspaces; a private copy would be found by nobody there. */
async function runUnenclosed(
  command: Command,
  members: readonly ShownMember[],
  options: PlanRunOptions,
  reason: string,
): Promise<PlanRunResult> {
  const unseen = namesOf(members, ({ shown }) => shown !== null && "copy" in shown);
  if (unseen.length > 0) options.onUnreached?.(unseen);
  const workspaces = [];
  for (const { member, shown } of members) {
    if (shown === null || "copy" in shown) continue;
    const workspace = await workspacePath(member.guarded, refOf(member));
    workspaces.push({ location: shown.location, workspace });
  }
  const { exitCode, fixed } = await runInWorkspaces(command, workspaces);
  const unreached = namesOf(members, ({ shown, address }) =>
    shown === null ? address === undefined : "copy" in shown,
  );
  return {
    exitCode,
    fixed,
    unchangeable: [],
    enclosed: { isEnclosed: false, reason },
    outside: null,
    unreached,
    surroundings: [],
  };
}

/** What the command does around the resources belongs to the sandbox whose surroundings they are: nothing is thrown away. */
async function runSurrounded(
  enclosing: PlanMember,
  argv: readonly string[],
  { options, run, members }: Begun,
): Promise<PlanRunResult> {
  const unreached = namesOf(members, ({ shown }) => shown === null);
  if (unreached.length > 0) options.onUnreached?.(unreached);
  const shown = members.flatMap((one) =>
    one.shown !== null && "workspace" in one.shown ? one.shown : [],
  );
  const { folders, worktrees } = foldersToShow(shown, run.folder);
  const end = await withSubmodules(worktrees, () =>
    runInSurroundings(enclosing, argv, options, folders),
  );
  return {
    ...end,
    fixed: [],
    unchangeable: [],
    enclosed: { isEnclosed: true },
    outside: null,
    unreached,
  };
}

/** Copies come last: where they are shown depends on what is around them. */
async function showMembers(members: readonly PlanMember[]): Promise<ShownMember[]> {
  const shown: ShownMember[] = [];
  for (const member of members)
    if (!member.capabilities.copies) shown.push({ member, shown: await show(member) });
  const around = shown.flatMap((one) => one.shown ?? []);
  for (const member of members) {
    if (!member.capabilities.copies) continue;
    const copy = await lendCopy(member.guarded, refOf(member), around);
    if (copy === null) shown.push({ member, shown: null });
    else if ("environment" in copy) shown.push({ member, shown: null, address: copy });
    else shown.push({ member, shown: { location: copy.location, copy: copy.file } });
  }
  return shown;
}

/** For surroundings that are not ours: what has a folder is shown, and nothing else. */
async function showFolders(members: readonly PlanMember[]): Promise<ShownMember[]> {
  const shown: ShownMember[] = [];
  for (const member of members) {
    const { path, copies } = member.capabilities;
    shown.push({ member, shown: path && !copies ? await showFolder(member) : null });
  }
  return shown;
}

/** In the order of the plan. */
function addressesOf(
  members: readonly ShownMember[],
): readonly { readonly resourceId: string; readonly address: SandboxAddress }[] {
  return members.flatMap(({ member: { resourceId }, address }) =>
    address === undefined ? [] : [{ resourceId, address }],
  );
}

async function show(member: PlanMember): Promise<ShownSandbox | null> {
  const { guarded, record, capabilities } = member;
  if (!capabilities.path) return null;
  const layers = await beginLayers(guarded, refOf(member));
  if (layers === null) return showFolder(member);
  return { location: realLocation(record.resource.location), ...layers };
}

function refOf({ record }: PlanMember): SandboxRef {
  return record.ref;
}
