import { tmpdir } from "node:os";
import type { Outside, Plan, PlanRunResult, SandboxDescription } from "../../index.ts";
import type { Call } from "../call.ts";
import { quoted } from "../quoted.ts";
import { printable } from "../render/printable.ts";
import { outsideLines, surroundingsLines } from "../render/outside.ts";
import { pageFor } from "../call.ts";

/**
 * Runs a command in a plan as the call says, and tells what it did outside. With `--json` its output goes to the
 * standard error, so that the answer stays alone.
 */
export async function runEnclosed(
  call: Call,
  plan: Plan,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PlanRunResult> {
  const outside = call.text("outside") as Outside | undefined;
  const { sandboxes } = await plan.describe();
  const result = await plan.run(argv, {
    env,
    stdio: ["inherit", call.json ? process.stderr.fd : "inherit", "inherit"],
    ...(outside !== undefined && { outside }),
    network: !call.isDenied("network"),
    onUnenclosed: (reason) => warn(call, reason),
    onUnreached: (ids) =>
      tellUnreached(
        call,
        sandboxes.filter(({ ref }) => ids.includes(ref.resourceId)),
      ),
  });
  tellLimits(call, result);
  return result;
}

/** Before the command starts, and whatever else is silent: nothing holds it. */
function warn(call: Call, reason: string): void {
  if (call.json) return;
  const { style } = pageFor(process.stderr);
  process.stderr.write(
    [
      style.notable("No view of its own can be had here; the command runs in the workspace:"),
      `  ${printable(reason)}`,
      "  Absolute paths lead it to the real resources. `coffer doctor` tells more.",
      "",
    ].join("\n"),
  );
}

/** Before the command starts: it must not take the real thing for that of the plan. */
function tellUnreached(call: Call, sandboxes: readonly SandboxDescription[]): void {
  for (const { ref, resource } of sandboxes) {
    const id = printable(ref.resourceId);
    if (resource.type !== "database") {
      call.tell(`${id}: the command does not see this resource as the plan has it.`);
      call.tell(
        `  ${printable(ref.strategyName)} gives programs no path; edits are made through the API.`,
      );
      continue;
    }
    call.tell(`${id}: the command does not see this database as the plan has it.`);
    const isReal = call.isDenied("network")
      ? "It has no network; what it reaches by a socket is the real one."
      : "If it connects to it, that is the real one.";
    call.tell(`  ${isReal} SQL works in the plan:`);
    const sql = `coffer sql ${quoted(ref.planId)} ${quoted(ref.resourceId)}`;
    call.suggest([sql, "run SQL in its sandbox"]);
  }
}

function tellLimits(call: Call, result: PlanRunResult): void {
  const { style, width } = pageFor(process.stderr);
  const { outside, fixed, exitCode, surroundings, unchangeable } = result;
  if (outside !== null) for (const line of outsideLines(outside, style, width)) call.tell(line);
  for (const line of surroundingsLines(surroundings, width)) call.tell(line);
  // Of interest only to whoever wonders why the command failed: most commands never go there.
  if (fixed.length > 0 && exitCode !== 0) tellFixed(call, fixed);
  if (unchangeable.length > 0) tellUnchangeable(call, unchangeable);
}

function tellFixed(call: Call, fixed: readonly string[]): void {
  call.tell(`It could only read ${fixed.map((path) => printable(path)).join(", ")}.`);
  if (fixed.includes(tmpdir()))
    call.tell("  Other mounts lie in there; TMPDIR names another folder for temporary files.");
}

/** Nobody knows whether this is why it failed, so the words by which it can be told are named. */
function tellUnchangeable(call: Call, paths: readonly string[]): void {
  const names = paths.map((path) => printable(path)).join(", ");
  call.tell(`It could not change ${names}: the owner or group is not your own.`);
  call.tell("  Programs then say `Value too large for defined data type`. With `mode: fuse`, or");
  call.tell("  `mode: copy`, among the properties of the resource in cofferdam.yaml they can.");
}
