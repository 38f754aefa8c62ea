import { once } from "node:events";
import { onTestFinished } from "vitest";
import { type RunningChild, startChild } from "../../support/child.ts";
import { type Site, reopenSite } from "../site.ts";

const OWN = new URL("../programs/own.ts", import.meta.url);
/** Milliseconds of a day. */
export const DAY = 24 * 60 * 60_000;

/** A process of its own that has made a plan and lives. */
export async function startOwner(
  { stateDirectory, data }: Site,
  planId: string,
  keeps = "",
): Promise<RunningChild> {
  const child = await startChild(OWN, [stateDirectory, planId, data, "probe", keeps]);
  onTestFinished(() => void child.process.kill("SIGKILL"));
  await once(child.process.stdout, "data");
  return child;
}

/** Ends a process and waits for it. */
export async function end(child: RunningChild, signal: NodeJS.Signals): Promise<void> {
  child.process.kill(signal);
  await child.result;
}

/** The same installation, seen by somebody who comes two days later. */
export async function twoDaysLater(site: Site): Promise<Site> {
  return reopenSite(site, { clock: { now: () => new Date(Date.now() + 2 * DAY) } });
}
